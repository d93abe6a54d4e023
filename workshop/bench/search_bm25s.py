"""bm25s over the passages of a file: builds an index of words, and answers all queries."""

import json
import resource
import sys
import time

import bm25s

request = json.loads(sys.stdin.readline())
start = time.perf_counter()
ids, bodies = [], []
with open(request["passages"], encoding="utf-8") as file:
    for line in file:
        passage = json.loads(line)
        ids.append(int(passage["id"]))
        bodies.append(passage["contents"])
words = dict(stopwords=None, show_progress=False)
index = bm25s.BM25(k1=1.2, b=0.75)
index.index(bm25s.tokenize(bodies, **words), show_progress=False)
built = time.perf_counter()
hits = []
for query in request["queries"]:
    found, _ = index.retrieve(bm25s.tokenize([query], **words), k=request["limit"], show_progress=False)
    hits.append([ids[number] for number in found[0]])
end = time.perf_counter()
print(
    json.dumps(
        {
            "seconds": built - start,
            "queriesPerSecond": round(len(hits) / (end - built)),
            "peakMemory": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024,
            "hits": hits,
            "version": bm25s.__version__,
        }
    )
)
