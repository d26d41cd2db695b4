/**
 * Answers `/slices.json` when slices have their own containers: the server's list, with this shell and,
 * for each slice in `SLICES`, the build that its container has now. So replacing a container is all it
 * takes to deploy a slice.
 *
 * Runs in nginx, whose JavaScript has neither spread nor destructuring.
 */
import crypto from 'crypto';
import fs from 'fs';

const CONTAINERS = (process.env.SLICES || '').split(/[\s,]+/).filter((name) => name);

/** Stores the last known answers, so that the page can name a slice that is down. */
const KEPT = '/tmp';

async function answer(r) {
  const answers = await Promise.all(['provider'].concat(CONTAINERS).map((name) => ask(r, name)));
  const list = answers[0];
  if (!list) {
    r.return(502);
    return;
  }
  // The page's policy allows code from this origin only, and this origin has only the live builds.
  list.portal.allow_override = false;
  // The server does not know the builds of the containers.
  list.portal.reports = false;
  list.shell = JSON.parse(fs.readFileSync('/etc/mkopo/shell.json', 'utf8'));
  CONTAINERS.forEach((name, at) => {
    const build = answers[at + 1];
    if (build) list.slices[name] = Object.assign({ previous: null }, build);
  });
  const body = JSON.stringify(list);
  const tag = `"${crypto.createHash('sha256').update(body).digest('base64url')}"`;
  r.headersOut['Content-Type'] = 'application/json';
  r.headersOut['ETag'] = tag;
  if (r.headersIn['If-None-Match'] === tag) r.return(304);
  else r.return(200, body);
}

/** Returns the current answer, or the last one, or null if there has never been one. */
async function ask(r, name) {
  const file = `${KEPT}/${name}.json`;
  const reply = await r.subrequest(`/live/${name}`);
  if (reply.status === 200) {
    const told = JSON.parse(reply.responseText);
    const whole = `${file}.${r.variables.request_id}`;
    fs.writeFileSync(whole, reply.responseText);
    fs.renameSync(whole, file);
    return told;
  }
  try {
    return JSON.parse(fs.readFileSync(file, 'utf8'));
  } catch (error) {
    r.warn(`${name} has never answered: ${error}`);
    return null;
  }
}

/** Returns the origin of a slice's files: its container, or the server. */
function origin(r) {
  const name = r.variables.slice;
  return `http://${CONTAINERS.includes(name) ? name : 'provider'}:8080`;
}

/** Returns the `Strict-Transport-Security` header, which is empty without TLS. */
function transportSecurity() {
  return process.env.MKOPO_BEHIND_TLS === 'true' ? 'max-age=31536000; includeSubDomains' : '';
}

export default { answer, origin, transportSecurity };
