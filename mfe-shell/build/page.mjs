import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import webpack from 'webpack';
import { chunksByModule, isUpdate } from '../../mfe-kit/build/chunks.mjs';
import { integrityOf } from '../../mfe-kit/build/manifest.mjs';

/**
 * Writes `index.html` from a template, and `csp.txt`: the page's Content-Security-Policy with the hashes
 * of its inline scripts, for the server that serves it.
 *
 * Placeholders of the template: `<!-- styles -->` and `<!-- scripts -->` load the build's style sheets and scripts, each
 * with its integrity;
 * `__FRAME__` are the files of the modules in `frame`, which every page of a signed-in user needs; and
 * `__DEMO_NOTICE__` the notice of a demo, which is on the page before any code.
 */
export class PortalPage {
  constructor({ template, demoNotice, frame }) {
    this.template = template;
    this.demoNotice = demoNotice;
    this.frame = frame;
  }

  apply(compiler) {
    compiler.hooks.thisCompilation.tap('PortalPage', (compilation) => {
      compilation.fileDependencies.addAll([this.template, this.demoNotice]);
      compilation.hooks.processAssets.tap(
        { name: 'PortalPage', stage: webpack.Compilation.PROCESS_ASSETS_STAGE_REPORT },
        () => {
          const chunks = chunksByModule(compilation, compiler.context);
          const frame = [...new Set(this.frame.flatMap((module) => chunks[module] ?? []))];
          const files = compilation.entrypoints.get('shell').getFiles();
          // A development build changes while the page is open.
          const integrity = (file) =>
            compilation.options.mode === 'production'
              ? ` integrity="${integrityOf(compilation.getAsset(file).source.buffer())}"`
              : '';
          const page = this.page(
            files.filter((file) => !isUpdate(file)),
            frame,
            integrity,
          );
          compilation.emitAsset('index.html', new webpack.sources.RawSource(page));
          compilation.emitAsset('csp.txt', new webpack.sources.RawSource(contentSecurityPolicy(page)));
        },
      );
    });
  }

  page(files, frame, integrity) {
    const styles = files
      .filter((file) => file.endsWith('.css'))
      .map((file) => `<link rel="stylesheet" href="/${file}"${integrity(file)}>`);
    const scripts = files
      .filter((file) => file.endsWith('.js'))
      .map((file) => `<script defer src="/${file}"${integrity(file)}></script>`);
    return readFileSync(this.template, 'utf8')
      .replace('__DEMO_NOTICE__', JSON.parse(readFileSync(this.demoNotice, 'utf8')))
      .replace('__FRAME__', JSON.stringify(frame.map((file) => `/${file}`)))
      .replace('<!-- styles -->', styles.join(''))
      .replace('<!-- scripts -->', scripts.join(''));
  }
}

/** `unsafe-inline`, for styles only: antd adds those with its theme's variables, and those of an open dialog. */
function contentSecurityPolicy(page) {
  const hashes = [...page.matchAll(/<script>([\s\S]*?)<\/script>/g)].map(
    ([, script]) => `'sha256-${createHash('sha256').update(script).digest('base64')}'`,
  );
  return [
    "default-src 'none'",
    `script-src 'self' ${hashes.join(' ')}`,
    "style-src 'self' 'unsafe-inline'",
    "img-src 'self' data:",
    "font-src 'self'",
    "connect-src 'self'",
    "manifest-src 'self'",
    "base-uri 'none'",
    "form-action 'self'",
    "frame-ancestors 'none'",
  ].join('; ');
}
