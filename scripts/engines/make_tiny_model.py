"""Makes a tiny Llama-architecture model in GGUF, without a network.

    make_tiny_model.py OUT.gguf SCRIPT.json

The tokenizer is trained on text that every CPython ships. Attention and MLP write nothing into the
residual stream, so the next token depends on the last one only, and the embedding and output
weights are made such that a request gets one of two known answers, told in SCRIPT.json:

    plain  twenty words, an accented letter, an emoji cut over four tokens, more words, " END."
    tool   a call of get_weather for Paris; when tools are given and no tool has answered yet

The prompt is still processed and cached by the real engine, which is what tests need of it: known
text on the way out, true token counts of prompt and cache. It says nothing about the quality of
anything.
"""

import json
import pydoc_data.topics
import sys

import gguf
import numpy as np
from tokenizers import AddedToken, Tokenizer, decoders, models, pre_tokenizers, trainers

VOCABULARY = 4096
HIDDEN, LAYERS, HEADS, KV_HEADS, FFN = 256, 2, 4, 2, 512
CONTEXT = 8192

CONTROL = ["<|endoftext|>", "<|im_start|>", "<|im_end|>", "<|plain|>", "<|tool|>"]
TOOL_MARKS = ["<tool_call>", "</tool_call>", "<tool_response>", "</tool_response>"]

CHAT_TEMPLATE = """\
{%- set system = messages[0].content if messages[0].role == 'system' else '' %}
{%- if system or tools %}<|im_start|>system
{{ system }}
{%- if tools %}
# Tools
<tools>
{%- for tool in tools %}
{{ tool | tojson }}
{%- endfor %}
</tools>
{%- endif %}<|im_end|>
{% endif %}
{%- for message in messages %}
{%- if message.role == 'system' and loop.first %}
{%- elif message.role == 'tool' %}<|im_start|>user
<tool_response>
{{ message.content }}
</tool_response><|im_end|>
{% else %}<|im_start|>{{ message.role }}
{{ message.content or '' }}
{%- for call in (message.tool_calls or []) %}
<tool_call>
{"name": "{{ call.function.name }}", "arguments": {{ call.function.arguments if call.function.arguments is string else call.function.arguments | tojson }}}
</tool_call>
{%- endfor %}<|im_end|>
{% endif %}
{%- endfor %}
{%- if add_generation_prompt %}<|im_start|>assistant
{% if tools and messages[-1].role != 'tool' %}<|tool|>{% else %}<|plain|>{% endif %}
{%- endif %}"""


def train_tokenizer():
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=VOCABULARY - len(CONTROL) - len(TOOL_MARKS),
        show_progress=False,
        initial_alphabet=sorted(pre_tokenizers.ByteLevel.alphabet()),
    )
    tokenizer.train_from_iterator(list(pydoc_data.topics.topics.values()), trainer)
    tokenizer.add_special_tokens([AddedToken(t, special=True, normalized=False) for t in CONTROL])
    tokenizer.add_tokens([AddedToken(t, special=False, normalized=False) for t in TOOL_MARKS])
    return tokenizer


def byte_level_names():
    """How byte-level BPE writes each byte as a printable character."""
    printable = [*range(33, 127), *range(161, 173), *range(174, 256)]
    rest = [b for b in range(256) if b not in printable]
    return {b: chr(b) for b in printable} | {b: chr(256 + i) for i, b in enumerate(rest)}


class Chains:
    """Token chains in which no token occurs twice: each token has one successor."""

    def __init__(self, tokenizer):
        self.tokenizer = tokenizer
        self.vocabulary = tokenizer.get_vocab()
        self.names = byte_level_names()
        self.used = set()

    def _take(self, token_id):
        assert token_id not in self.used
        self.used.add(token_id)
        return token_id

    def words(self, count):
        found = []
        for piece, token_id in sorted(self.vocabulary.items(), key=lambda item: item[1]):
            word = piece[1:]
            plain = piece[0] == "\u0120" and len(word) > 2 and word.isascii() and word.islower()
            if plain and word.isalpha() and token_id not in self.used:
                found.append(self._take(token_id))
                if len(found) == count:
                    return found
        raise SystemExit("the trained vocabulary has too few words")

    def bytes_of(self, text):
        return [self._take(self.vocabulary[self.names[b]]) for b in text.encode()]

    def piece(self, text):
        """A token of its own for `text`, unless it is one already."""
        if text not in TOOL_MARKS:
            self.tokenizer.add_tokens([text])
        return self._take(self.tokenizer.token_to_id(text))


def build_answers(tokenizer):
    c = Chains(tokenizer)
    plain = [*c.words(20), *c.bytes_of("é"), *c.words(5), *c.bytes_of("😀"), *c.words(15), c.piece(" END.")]
    tool = [
        c.piece(text)
        for text in ("<tool_call>", '\n{"name": "', "get_weather", '", "arguments": {"', "city",
                     '": "', "Paris", '", "days', '": 3}}\n', "</tool_call>")
    ]
    return {"plain": plain, "tool": tool}


def make_weights(tokenizer, answers, size):
    rng = np.random.default_rng(0)

    def vector():
        return rng.standard_normal(HIDDEN).astype(np.float32)

    # Every token outside the chains points in one common direction, which starts the plain answer.
    common = vector()
    embedding = np.tile(common, (size, 1)) + 0.01 * rng.standard_normal((size, HIDDEN)).astype(np.float32)
    output = np.zeros((size, HIDDEN), np.float32)
    output[answers["plain"][0]] += common
    end = tokenizer.token_to_id("<|im_end|>")
    for kind, ids in answers.items():
        chain = [tokenizer.token_to_id(f"<|{kind}|>"), *ids, end]
        for token, successor in zip(chain, chain[1:]):
            direction = vector()
            embedding[token] = direction
            output[successor] += direction
    return embedding, 0.25 * output


def layer_tensors(rng, index):
    def random(*shape):
        return (0.02 * rng.standard_normal(shape)).astype(np.float32)

    kv = HIDDEN // HEADS * KV_HEADS
    prefix = f"blk.{index}."
    return {
        prefix + "attn_norm.weight": np.ones(HIDDEN, np.float32),
        prefix + "ffn_norm.weight": np.ones(HIDDEN, np.float32),
        prefix + "attn_q.weight": random(HIDDEN, HIDDEN),
        prefix + "attn_k.weight": random(kv, HIDDEN),
        prefix + "attn_v.weight": random(kv, HIDDEN),
        prefix + "attn_output.weight": np.zeros((HIDDEN, HIDDEN), np.float32),
        prefix + "ffn_gate.weight": random(FFN, HIDDEN),
        prefix + "ffn_up.weight": random(FFN, HIDDEN),
        prefix + "ffn_down.weight": np.zeros((HIDDEN, FFN), np.float32),
    }


def add_tokenizer(writer, tokenizer, size):
    state = json.loads(tokenizer.to_str())
    tokens = [f"[PAD{i}]" for i in range(size)]
    types = [gguf.TokenType.UNUSED] * size
    for text, token_id in state["model"]["vocab"].items():
        tokens[token_id], types[token_id] = text, gguf.TokenType.NORMAL
    for added in state["added_tokens"]:
        kind = gguf.TokenType.CONTROL if added["special"] else gguf.TokenType.USER_DEFINED
        tokens[added["id"]], types[added["id"]] = added["content"], kind
    merges = [m if isinstance(m, str) else " ".join(m) for m in state["model"]["merges"]]
    writer.add_tokenizer_model("gpt2")
    writer.add_tokenizer_pre("gpt-2")
    writer.add_token_list(tokens)
    writer.add_token_types(types)
    writer.add_token_merges(merges)
    writer.add_eos_token_id(tokenizer.token_to_id("<|im_end|>"))
    writer.add_pad_token_id(tokenizer.token_to_id("<|endoftext|>"))
    writer.add_add_bos_token(False)
    writer.add_chat_template(CHAT_TEMPLATE)


def main():
    out, script = sys.argv[1:3]
    tokenizer = train_tokenizer()
    answers = build_answers(tokenizer)
    size = (max(tokenizer.get_vocab(with_added_tokens=True).values()) + 64) // 64 * 64

    writer = gguf.GGUFWriter(out, "llama")
    writer.add_name("tiny")
    writer.add_context_length(CONTEXT)
    writer.add_embedding_length(HIDDEN)
    writer.add_block_count(LAYERS)
    writer.add_feed_forward_length(FFN)
    writer.add_head_count(HEADS)
    writer.add_head_count_kv(KV_HEADS)
    writer.add_layer_norm_rms_eps(1e-5)
    writer.add_rope_freq_base(10000.0)
    writer.add_rope_dimension_count(HIDDEN // HEADS)
    writer.add_vocab_size(size)
    writer.add_file_type(0)
    add_tokenizer(writer, tokenizer, size)

    embedding, output = make_weights(tokenizer, answers, size)
    tensors = {
        "token_embd.weight": embedding,
        "output.weight": output,
        "output_norm.weight": np.ones(HIDDEN, np.float32),
    }
    rng = np.random.default_rng(1)
    for index in range(LAYERS):
        tensors |= layer_tensors(rng, index)
    for name, tensor in tensors.items():
        writer.add_tensor(name, np.ascontiguousarray(tensor))
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()

    texts = {k: tokenizer.decode(ids, skip_special_tokens=False) for k, ids in answers.items()}
    with open(script, "w", encoding="utf-8") as file:
        json.dump(texts, file, indent=1, ensure_ascii=False)


main()
