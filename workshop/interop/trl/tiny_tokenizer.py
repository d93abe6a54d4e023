"""The tiny policy's tokenizer for TRL's tool loop."""

from transformers import PreTrainedTokenizerFast


def read_tokenizer(checkpoint):
    """Pads on the left, as TRL generates. Knows how an answer of the chat template reads."""
    tokenizer = PreTrainedTokenizerFast.from_pretrained(checkpoint, padding_side="left")
    # TRL recognises only published templates. This template has the format of Hermes. The decoder writes a space after markers.
    tokenizer.response_template = {
        "defaults": {"role": "assistant"},
        "start_anchor": "<|im_start|> assistant",
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
    return tokenizer
