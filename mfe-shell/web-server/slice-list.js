/**
 * `/slices.json` where slices have containers of their own: what the provider says, this shell, and
 * of each slice in `SLICES` the build that its container has at this moment. Whoever replaces a
 * container need not tell anybody.
 *
 * It runs in nginx, whose JavaScript has neither spread nor destructuring.
 */
import crypto from 'crypto';
import fs from 'fs';

const CONTAINERS = (process.env.SLICES || '').split(/[\s,]+/).filter((name) => name);

/** What was last known is kept here, so that a slice that is down can be named on the page. */
const KEPT = '/tmp';

async function answer(r) {
  const answers = await Promise.all(['provider'].concat(CONTAINERS).map((name) => ask(r, name)));
  const list = answers[0];
  if (!list) {
    r.return(502);
    return;
  }
  // The page's policy lets code come from this origin alone, and here is no build but the live one.
  list.portal.allow_override = false;
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

/** What is answered, else what was answered last; nothing when nobody ever did. */
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

/** Where a slice's files are: in its container, else with the provider. */
function origin(r) {
  const name = r.variables.slice;
  return `http://${CONTAINERS.includes(name) ? name : 'provider'}:8080`;
}

/** The header that tells browsers never to come without TLS; none where there is no TLS. */
function transportSecurity() {
  return process.env.MKOPO_BEHIND_TLS === 'true' ? 'max-age=31536000' : '';
}

export default { answer, origin, transportSecurity };
