/**
 * Starts workers as jobs of a Ray cluster: `node ray-workers.mjs http://head:8265 8 "toolenv rollout … --out /shared/bridge"`.
 *
 * Ray's dashboard mistakes requests of Node's fetch for requests of a web page, and refuses them with 405. node:http sends no such
 * headers. Ray has no rank for jobs, so each worker gets its place in TOOLENV_WORKER.
 */
import { request } from 'node:http';

const [address, count, entrypoint] = process.argv.slice(2);
if (!entrypoint) {
  console.error('Usage: node ray-workers.mjs <dashboard> <workers> "<command>"');
  process.exit(2);
}

function submit(job) {
  return new Promise((resolve, reject) => {
    const headers = { 'content-type': 'application/json' };
    const sent = request(new URL('/api/jobs/', address), { method: 'POST', headers }, (response) => {
      let text = '';
      response.setEncoding('utf8').on('data', (part) => {
        text += part;
      });
      response.on('end', () => {
        if (response.statusCode === 200) resolve(JSON.parse(text).submission_id);
        else reject(new Error(`Ray answers ${response.statusCode}: ${text.slice(0, 300)}`));
      });
    });
    sent.on('error', reject).end(JSON.stringify(job));
  });
}

for (let place = 1; place <= Number(count); place++) {
  const env_vars = { TOOLENV_WORKER: `${place}/${count}` };
  console.log(await submit({ entrypoint, runtime_env: { env_vars }, entrypoint_num_cpus: 1 }));
}
