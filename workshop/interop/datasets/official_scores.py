"""The answer scores of the official scripts of three datasets, for check-scores.ts. Needs Python 3 and nothing else.

Written from the published algorithms of
  HotpotQA         https://github.com/hotpotqa/hotpot             hotpot_evaluate_v1.py
  2WikiMultihopQA  https://github.com/Alab-NII/2wikimultihop      2wikimultihop_evaluate_v1.1.py
  MuSiQue          https://github.com/StonyBrookNLP/musique       evaluate_v1.0.py, metrics/answer.py

Reads a JSON object from stdin. {"ask": "characters"} prints what this Python knows of every character that its Unicode has;
{"ask": "scores", "pairs": {dataset: [[prediction, [gold, ...]], ...]}} prints {dataset: [[em, f1], ...]}.
"""
import json
import re
import string
import sys
import unicodedata
from collections import Counter


def normalize(answer):
    kept = "".join(c for c in answer.lower() if c not in string.punctuation)
    return " ".join(re.sub(r"\b(a|an|the)\b", " ", kept).split())


def shared_words(predicted, wanted):
    """F1 of two lists of words, 0 if they share none."""
    same = sum((Counter(predicted) & Counter(wanted)).values())
    if same == 0:
        return 0.0
    precision, recall = same / len(predicted), same / len(wanted)
    return (2 * precision * recall) / (precision + recall)


def hotpot_f1(prediction, gold):
    predicted, wanted = normalize(prediction), normalize(gold)
    for text in (predicted, wanted):
        if text in ("yes", "no", "noanswer") and predicted != wanted:
            return 0.0
    return shared_words(predicted.split(), wanted.split())


def musique_f1(prediction, gold):
    predicted, wanted = normalize(prediction).split(), normalize(gold).split()
    if not predicted or not wanted:
        return float(predicted == wanted)
    return shared_words(predicted, wanted)


def best(f1, prediction, golds):
    em = max(int(normalize(prediction) == normalize(gold)) for gold in golds)
    return [em, max(f1(prediction, gold) for gold in golds)]


F1 = {"hotpotqa": hotpot_f1, "2wikimultihopqa": hotpot_f1, "musique": musique_f1}


def characters():
    """[code point, white space, whether its lower case ends in a part of a word, lower case] of each assigned character."""
    word = re.compile(r"\w")
    rows = []
    for code in range(sys.maxunicode + 1):
        c = chr(code)
        if unicodedata.category(c) != "Cn":
            rows.append([code, c.isspace(), word.match(c.lower()[-1]) is not None, c.lower()])
    return {"unicode": unicodedata.unidata_version, "rows": rows}


request = json.load(sys.stdin)
if request["ask"] == "characters":
    answer = characters()
else:
    answer = {
        name: [best(F1[name], prediction, golds) for prediction, golds in pairs]
        for name, pairs in request["pairs"].items()
    }
json.dump(answer, sys.stdout)
