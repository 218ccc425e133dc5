package openai

import (
	"encoding/base64"
	"fmt"

	sdk "github.com/sashabaranov/go-openai"

	"agent_node/pkg/harness/model"
)

// messages in the wire's form.
func messages(in []model.Message) []sdk.ChatCompletionMessage {
	out := make([]sdk.ChatCompletionMessage, 0, len(in))
	var seen []sdk.ChatMessagePart // pictures of observations that are still to be shown
	for i, said := range in {
		w := sdk.ChatCompletionMessage{Role: string(said.Role), Content: said.Content}
		if said.Role == model.RoleTool {
			w.ToolCallID = said.CallID
		}
		for _, c := range said.Calls {
			w.ToolCalls = append(w.ToolCalls, sdk.ToolCall{
				ID: c.ID, Type: sdk.ToolTypeFunction, Function: sdk.FunctionCall{Name: wireName(c.Tool), Arguments: c.Arguments},
			})
		}
		if w.Content == "" && len(w.ToolCalls) == 0 {
			// The client library leaves out a content that is empty, and servers refuse a message that has none.
			w.Content = "(empty)"
		}
		switch {
		case len(said.Images) == 0:
		case said.Role == model.RoleUser:
			w.MultiContent = append([]sdk.ChatMessagePart{textPart(w.Content)}, pictures(said.Images)...)
			w.Content = ""
		default:
			seen = append(seen, textPart(fmt.Sprintf("%sWhat call %s saw:", model.HarnessPrefix, said.CallID)))
			seen = append(seen, pictures(said.Images)...)
		}
		out = append(out, w)
		// Only a user's message can hold pictures, and none may stand between the results of one answer.
		if len(seen) > 0 && (i+1 == len(in) || in[i+1].Role != model.RoleTool) {
			out = append(out, sdk.ChatCompletionMessage{Role: string(model.RoleUser), MultiContent: seen})
			seen = nil
		}
	}
	return out
}

func textPart(text string) sdk.ChatMessagePart {
	return sdk.ChatMessagePart{Type: sdk.ChatMessagePartTypeText, Text: text}
}

func pictures(images []model.Image) []sdk.ChatMessagePart {
	out := make([]sdk.ChatMessagePart, 0, len(images))
	for _, i := range images {
		out = append(out, sdk.ChatMessagePart{Type: sdk.ChatMessagePartTypeImageURL, ImageURL: &sdk.ChatMessageImageURL{
			URL: "data:" + i.MediaType + ";base64," + base64.StdEncoding.EncodeToString(i.Data),
		}})
	}
	return out
}
