import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { statSync } from 'node:fs';
import Watchpack from 'watchpack';
import { root } from '../portal/slices.mjs';

/** The folders among the server's sources that are not built into it. */
const OTHERS = ['**/target', '**/tests', '**/benches'];

/** The server as it is edited: after a change it is built, and restarted with the same data. */
export class WatchedServer {
  #child;
  #build;
  #ready;
  #watcher;
  #isChanged = false;
  #isRebuilding = false;
  #isStopping = false;

  /** `build` is the command that builds it from `sources`; `ended` is called with the exit code when it ends by itself. */
  constructor({ binary, build, sources, settings, address, ended }) {
    Object.assign(this, { binary, build, sources, settings, address, ended });
  }

  /** Starts it, with its welcome the first time. Resolves when it answers. */
  start({ isFirst }) {
    const env = { ...process.env, ...this.settings };
    const child = spawn(this.binary, ['serve'], {
      cwd: root,
      env,
      stdio: ['inherit', isFirst ? 'inherit' : 'ignore', 'inherit'],
    });
    this.#child = child;
    child.once('error', ({ message }) => {
      console.error(`mkopo: ${this.binary} could not be started: ${message}.`);
      this.ended(1);
    });
    child.once('exit', (code) => {
      if (this.#child === child && !this.#isStopping) this.ended(code ?? 1);
    });
    this.#ready = answers(`${this.address}/readyz`);
    return this.#ready;
  }

  /** Resolves when it answers: at once, unless it is restarting. */
  ready() {
    return this.#ready;
  }

  /** From now on, builds and restarts it after every change. */
  watch() {
    const watcher = new Watchpack({ aggregateTimeout: 50, ignored: OTHERS });
    watcher.on('aggregated', () => {
      console.log('\n  The server has changed: building it …');
      void this.#rebuild();
    });
    this.#watcher = watcher;
    watcher.watch({ directories: this.sources, startTime: Date.now() });
  }

  /** Ends it, and a build that is under way. */
  async stop() {
    this.#isStopping = true;
    this.#watcher?.close();
    this.#build?.kill('SIGTERM');
    await end(this.#child);
  }

  /** Builds what has changed, also meanwhile. Only one server has the port: two restarts never overlap. */
  async #rebuild() {
    this.#isChanged = true;
    if (this.#isRebuilding) return;
    this.#isRebuilding = true;
    while (this.#isChanged && !this.#isStopping) await this.#buildAndRestart();
    this.#isRebuilding = false;
  }

  /** Restarts the server if the build made another program. Resolves when that is started, and may not answer yet. */
  async #buildAndRestart() {
    const started = Date.now();
    const before = statSync(this.binary).mtimeMs;
    let code;
    while (this.#isChanged) {
      this.#isChanged = false;
      const [command, ...args] = this.build;
      this.#build = spawn(command, args, { cwd: root, stdio: ['ignore', 'inherit', 'inherit'] });
      code = await ended(this.#build);
    }
    this.#build = undefined;
    if (this.#isStopping) return;
    if (code !== 0) {
      console.error("mkopo: the server can't be built; the one before goes on running.");
      return;
    }
    const built = Date.now();
    if (statSync(this.binary).mtimeMs === before) {
      console.log('  Nothing of the running server has changed.');
      return;
    }
    await this.#restart();
    const seconds = (since) => ((Date.now() - since) / 1000).toFixed(1);
    void this.#ready.then(() =>
      console.log(
        `  The server is restarted after ${seconds(started)} s, ${seconds(built)} s of them to restart.`,
      ),
    );
  }

  /** Whoever asks meanwhile waits until the new one answers. */
  async #restart() {
    const old = this.#child;
    this.#child = undefined;
    const oldEnded = end(old);
    this.#ready = oldEnded.then(() => this.start({ isFirst: false }));
    await oldEnded;
  }
}

/** Ends a program; resolves when it has ended. */
async function end(child) {
  if (!child || child.exitCode !== null || child.signalCode !== null) return;
  child.kill('SIGTERM');
  await once(child, 'exit');
}

/** The exit code of a program, when it has ended or could not be started. */
async function ended(child) {
  try {
    const [code] = await once(child, 'exit');
    return code;
  } catch (error) {
    console.error(`mkopo: ${child.spawnfile} could not be started: ${error.message}.`);
    return 1;
  }
}

async function answers(address) {
  for (;;) {
    const isReady = await fetch(address).then(
      ({ ok }) => ok,
      () => false,
    );
    if (isReady) return;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}
