import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { portalAt } from './portal.mjs';
import { Refusal } from './refusal.mjs';
import { portalOf, readSlicePackage } from './slice-package.mjs';
import { authorizationFor, upload } from './upload.mjs';

/** Has the outcome once the build is published: the container's health check looks for it. */
export const OUTCOME = join(tmpdir(), 'mfe-kit-deployed');

const LONGEST_S = 30;

/** Refusals that end without another build: once there is a shell, one that fits or slices that fit, or a rollout is over. */
const PASSING = ['no_portal', 'wrong_shell', 'shell_needed', 'rollout_runs'];

/** The program of a slice's container: publishes the build in `dist/`, and stays until it is stopped. */
export async function run(args) {
  const { values } = parseArgs({ args, options: { insecure: { type: 'boolean' } } });
  const env = { ...process.env, ...(values.insecure && { MKOPO_INSECURE: 'true' }) };
  for (const signal of ['SIGTERM', 'SIGINT']) process.once(signal, () => process.exit(0));
  rmSync(OUTCOME, { force: true });
  const outcome = await deploy(env, { say: console.log, wait: (seconds) => pause(seconds * 1000) });
  writeFileSync(OUTCOME, `${outcome}\n`);
  setInterval(() => {}, 2 ** 31 - 1);
}

/**
 * Publishes the build in `dist/` as soon as a portal takes it; returns the outcome, in a sentence. Each reason why not
 * is said once. A refusal that does not pass by itself lasts until the deploy token is another one.
 */
export async function deploy(env, { say, wait }) {
  let [delay, reason, refusedToken] = [1, null, null];
  for (;;) {
    const { outcome, waits, refused, token } = await attempt(env, refusedToken);
    const said = outcome ?? waits ?? refused;
    if (said && said !== reason) {
      say(said);
      [delay, reason] = [1, said];
    }
    if (outcome) return outcome;
    if (refused) refusedToken = token;
    await wait(refused || !said ? LONGEST_S : delay);
    delay = Math.min(1.5 * delay, LONGEST_S);
  }
}

/** Tries once: `outcome` says that it is done, `waits` why to try again, and `refused` why not to. */
async function attempt(env, refusedToken) {
  const slicePackage = readSlicePackage();
  const { name, version } = slicePackage;
  const build = `${name} ${version}`;
  let token = '';
  try {
    const portal = portalAt(portalOf(slicePackage, env.MKOPO_PORTAL));
    token = readToken(name, env);
    if (token === refusedToken) return {};
    const authorization = authorizationFor(portal, token, { isAllowed: env.MKOPO_INSECURE === 'true' });
    const query = queryOf(env);
    const { status, slice, code, error } = await upload(slicePackage, { portal, authorization, query });
    if (slice) return { outcome: `${build} ${outcomeOf(version, status, slice)}.` };
    const passes = PASSING.includes(code) || status === 429 || status >= 500;
    return passes
      ? { waits: `${build} waits: ${error}` }
      : { refused: `${build} is refused: ${error}`, token };
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    return { waits: `${build} waits: ${error.message}` };
  }
}

/** The deploy token, from the environment, or from a file that the server may have to write first. */
function readToken(name, { MKOPO_DEPLOY_TOKEN: given, MKOPO_DEPLOY_TOKEN_FILE: file }) {
  if (given) return given;
  if (!file)
    throw new Refusal(
      `publishing needs the deploy token of ${name}, in MKOPO_DEPLOY_TOKEN or in the file that MKOPO_DEPLOY_TOKEN_FILE names.`,
    );
  try {
    const token = readFileSync(file, 'utf8').trim();
    if (token) return token;
  } catch (error) {
    if (error.code !== 'ENOENT')
      throw new Refusal(`the deploy token in ${file} can't be read: ${error.code}.`);
  }
  throw new Refusal(`there is no deploy token in ${file}.`);
}

function queryOf({ MKOPO_ROLLOUT: rollout, MKOPO_HOLD: hold, MKOPO_FORCE: force }) {
  const share = /^\d+%?$/.test(rollout) ? { percent: rollout.replace('%', '') } : { plan: rollout };
  return {
    ...(hold === 'true' && { hold }),
    ...(force === 'true' && { force }),
    ...(rollout && share),
  };
}

/** The outcome for a build that the portal has, from its answer; the end of a sentence. */
function outcomeOf(version, status, { live, rollout }) {
  const isNew = status === 201;
  if (rollout?.version === version) return `is rolled out to ${rollout.percent}%`;
  if (live === version) return isNew ? 'is live' : 'is there already; it is live';
  return `${isNew ? 'is held' : 'is there already'}; ${live ?? 'no build'} is live`;
}
