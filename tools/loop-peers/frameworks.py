"""Measures a step of other agent frameworks: a model that answers at once, a tool of four arguments that does nothing.

usage: frameworks.py PEER      (by tools/bench-loop, with the packages of tools/requirements/agents.txt)

Reads a number of steps a line, and prints a JSON object a line: peer, steps, us (microseconds of processor time a
step).
"""

import asyncio
import json
import os
import sys
import tempfile
import time

os.environ.setdefault("OPENAI_AGENTS_DISABLE_TRACING", "1")
os.environ.setdefault("LANGSMITH_TRACING", "false")

ARGUMENTS = {"x": 1.5, "y": -2.25, "yaw": 0.5, "frame": "map"}
RESULT = '{"x":1.5,"y":-2.25,"yaw":0.5}'


class Counted:
    calls = 0


def move(x: float, y: float, yaw: float, frame: str) -> str:
    """Moves."""
    Counted.calls += 1
    return RESULT


def langgraph(steps):
    from langchain_core.language_models.fake_chat_models import GenericFakeChatModel
    from langchain_core.messages import AIMessage
    from langgraph.prebuilt import create_react_agent

    class Model(GenericFakeChatModel):
        def bind_tools(self, tools, **kwargs):
            return self

    def answers():
        for i in range(steps):
            yield AIMessage(content="", tool_calls=[{"name": "move", "args": ARGUMENTS, "id": f"call_{i}"}])
        yield AIMessage(content="done")

    agent = create_react_agent(Model(messages=answers()), [move])
    agent.invoke({"messages": [("user", "move")]}, {"recursion_limit": 3 * steps + 10})


def pydantic_ai(steps):
    from pydantic_ai import Agent
    from pydantic_ai.messages import ModelResponse, TextPart, ToolCallPart
    from pydantic_ai.models.function import FunctionModel
    from pydantic_ai.usage import UsageLimits

    asked = 0

    def answer(messages, info):
        nonlocal asked
        asked += 1
        if asked > steps:
            return ModelResponse(parts=[TextPart("done")])
        return ModelResponse(parts=[ToolCallPart("move", ARGUMENTS, f"call_{asked}")])

    agent = Agent(FunctionModel(answer))
    agent.tool_plain(move)
    agent.run_sync("move", usage_limits=UsageLimits(request_limit=None))


def openai_agents(steps, session=None):
    from agents import Agent, ModelResponse, Runner, Usage, function_tool
    from agents.models.interface import Model
    from openai.types.responses import ResponseFunctionToolCall, ResponseOutputMessage, ResponseOutputText

    class Scripted(Model):
        asked = 0

        async def get_response(self, *args, **kwargs):
            self.asked += 1
            if self.asked > steps:
                text = ResponseOutputText(text="done", type="output_text", annotations=[])
                out = ResponseOutputMessage(
                    id="m", type="message", role="assistant", content=[text], status="completed"
                )
            else:
                out = ResponseFunctionToolCall(
                    id=f"f{self.asked}",
                    call_id=f"call_{self.asked}",
                    type="function_call",
                    name="move",
                    arguments=json.dumps(ARGUMENTS),
                )
            return ModelResponse(output=[out], usage=Usage(), response_id=None)

        def stream_response(self, *args, **kwargs):
            raise NotImplementedError

    agent = Agent(name="a", model=Scripted(), tools=[function_tool(move)])
    asyncio.run(Runner.run(agent, "move", max_turns=steps + 5, session=session))


def openai_agents_sqlite(steps):
    from agents import SQLiteSession

    with tempfile.TemporaryDirectory() as folder:
        session = SQLiteSession("s", os.path.join(folder, "s.db"))
        openai_agents(steps, session)
        session.close()


PEERS = {
    "langgraph": langgraph,
    "pydantic-ai": pydantic_ai,
    "openai-agents": openai_agents,
    "openai-agents, SQLite on disk": openai_agents_sqlite,
}


def main():
    name = sys.argv[1]
    peer = PEERS[name]
    peer(3)  # imports, and whatever is made once
    for line in sys.stdin:
        steps = int(line)
        Counted.calls = 0
        before = time.process_time()
        peer(steps)
        took = time.process_time() - before
        assert Counted.calls == steps, f"{Counted.calls} calls, want {steps}"
        print(json.dumps({"peer": name, "steps": steps, "us": round(took / steps * 1e6, 1)}), flush=True)


if __name__ == "__main__":
    main()
