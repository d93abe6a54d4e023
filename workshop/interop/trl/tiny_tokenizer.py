"""The tiny policy's tokenizer for TRL's tool loop."""

from response_template import response_template
from transformers import PreTrainedTokenizerFast


def read_tokenizer(checkpoint):
    """Pads on the left, as TRL generates. Knows how an answer of the chat template reads."""
    tokenizer = PreTrainedTokenizerFast.from_pretrained(checkpoint, padding_side="left")
    # The decoder writes a space after markers.
    tokenizer.response_template = response_template("<|im_start|> assistant")
    return tokenizer
