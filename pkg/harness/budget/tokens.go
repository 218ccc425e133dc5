package budget

// Tokens are bounded by bytes: a token of every tokenizer in use stands for one byte of text or more, and the
// endpoint's template adds a few per message and per tool.
const (
	perMessage  = 12
	perTool     = 24
	perRequest  = 64
	bytesPerTok = 3 // of an ordinary text, for accounts where no endpoint counts
)

// Size of a request as far as its tokens go; sizes add up, so that a growing history is counted once.
type Size struct {
	Bytes    uint64
	Messages uint64
	Tools    uint64
	// Images, as ImageTokens counts them, summed up.
	ImageBound, ImageEstimate uint64
}

// ImageTokens of a picture, at most and ordinarily. Endpoints count by its pixels or by tiles of 512 x 512, and differ by a factor of 30; the
// dearest in use takes 2833 tokens and 5667 a tile. What an endpoint has counted corrects this from the next request on.
func ImageTokens(width, height int) (bound, estimate uint64) {
	const (
		base, perTile, tile = 2833, 5667, 512
		pixelsPerToken      = 750
	)
	w, h := uint64(max(width, 1)), uint64(max(height, 1))
	return base + perTile*((w+tile-1)/tile)*((h+tile-1)/tile), w*h/pixelsPerToken + 1
}

// Bound is an upper bound of the request's tokens.
func (s Size) Bound() uint64 {
	return add(add(s.Bytes, s.ImageBound), perRequest+s.Messages*perMessage+s.Tools*perTool)
}

// Weight is what a request's parts weigh against each other: bytes of text, and pictures by what they count at most.
func (s Size) Weight() uint64 { return add(s.Bytes, s.ImageBound) }

// Estimate is what such a request ordinarily counts, for models whose endpoint reports no usage.
func (s Size) Estimate() uint64 {
	return s.Bytes/bytesPerTok + s.ImageEstimate + perRequest/4 + s.Messages*perMessage/3 + s.Tools*perTool/3
}

// EstimateText is what an answer of that many bytes ordinarily counts; never 0.
func EstimateText(bytes int) uint64 { return uint64(bytes)/bytesPerTok + 1 }

// Meter bounds requests that grow at their end: what an endpoint has once counted is known, only what came since is
// bounded by its bytes.
type Meter struct {
	size   Size   // of the request that was counted
	tokens uint64 // what the endpoint counted; 0: nothing yet
}

// Bound of a request that begins with the one counted last.
func (m *Meter) Bound(s Size) uint64 {
	full := s.Bound()
	if m.tokens == 0 || s.Bytes < m.size.Bytes || s.Messages < m.size.Messages || s.Tools != m.size.Tools || s.ImageBound < m.size.ImageBound {
		return full
	}
	grown := Size{Bytes: s.Bytes - m.size.Bytes, Messages: s.Messages - m.size.Messages, ImageBound: s.ImageBound - m.size.ImageBound}
	return min(full, add(m.tokens, grown.Bound()))
}

// Known says whether an endpoint has counted a request.
func (m *Meter) Known() bool { return m.tokens > 0 }

// Shortened takes parts of the request away that was counted and adds that many bytes of text: it counts no more than it did with the
// text. The next count corrects it.
func (m *Meter) Shortened(s Size, text uint64) {
	if m.tokens > 0 {
		m.size, m.tokens = s, min(s.Bound(), add(m.tokens, text))
	}
}

// Counted corrects the meter by what the endpoint reported for a request.
func (m *Meter) Counted(s Size, tokens uint64) { m.size, m.tokens = s, tokens }
