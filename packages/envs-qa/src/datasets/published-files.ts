/**
 * Where the authors publish their files, as the READMEs of github.com/hotpotqa/hotpot, Alab-NII/2wikimultihop and StonyBrookNLP/musique
 * say. The authors publish no digests.
 */
import type { PublishedData } from '@toolenv/core';

const hotpot = 'http://curtis.ml.cmu.edu/datasets/hotpot';

export const hotpotData: PublishedData = {
  files: ['hotpot_train_v1.1.json', 'hotpot_dev_distractor_v1.json', 'hotpot_dev_fullwiki_v1.json'].map(
    (name) => ({ name, url: `${hotpot}/${name}` }),
  ),
  options: { path: 'hotpot_train_v1.1.json', testPath: 'hotpot_dev_distractor_v1.json' },
  license: 'CC BY-SA 4.0, https://hotpotqa.github.io',
};

const wikimultihop = 'data_ids_april7.zip';

export const wikimultihopData: PublishedData = {
  files: [
    {
      name: wikimultihop,
      url: `https://www.dropbox.com/s/ms2m13252h6xubs/${wikimultihop}?dl=1`,
      page: 'https://github.com/Alab-NII/2wikimultihop',
    },
  ],
  options: {
    path: `${wikimultihop}/train.json`,
    testPath: `${wikimultihop}/dev.json`,
    aliasPath: `${wikimultihop}/id_aliases.json`,
  },
  license: 'Apache 2.0, https://github.com/Alab-NII/2wikimultihop',
};

const musique = 'musique_v1.0.zip';
const musiqueId = '1tGdADlNjWFaHLeZZGShh2IRcpO6Lv24h';

/** @param kind `ans`: MuSiQue-Ans; `full`: MuSiQue-Full. */
export function musiqueData(kind: 'ans' | 'full'): PublishedData {
  return {
    files: [
      {
        name: musique,
        url: `https://drive.usercontent.google.com/download?id=${musiqueId}&export=download&confirm=t`,
        page: `https://drive.google.com/file/d/${musiqueId}/view`,
      },
    ],
    options: {
      path: `${musique}/musique_${kind}_v1.0_train.jsonl`,
      testPath: `${musique}/musique_${kind}_v1.0_dev.jsonl`,
    },
    license: 'CC BY 4.0, https://github.com/StonyBrookNLP/musique',
  };
}
