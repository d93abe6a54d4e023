"""How TRL reads calls in Hermes' format. It recognises only published templates by itself."""


def response_template(start_anchor):
    """`start_anchor` is what the chat template writes before an answer. Answers end with <|im_end|>."""
    return {
        "defaults": {"role": "assistant"},
        "start_anchor": start_anchor,
        "fields": {
            "tool_calls": {
                "open": "<tool_call>",
                "close_pattern": r"</tool_call>\s*",
                "repeats": True,
                "content": "json",
                "transform": {"type": "function", "function": "{content}"},
            },
            "content": {"close_pattern": r"<\|im_end\|>\s*", "content": "text"},
        },
    }
