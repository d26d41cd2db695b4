import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import webpack from 'webpack';

/**
 * Writes `index.html` from a template, and `csp.txt`: the whole Content-Security-Policy that
 * belongs to that page, with the hashes of its inline scripts, for whichever server serves it.
 *
 * In the template `<!-- styles -->` and `<!-- scripts -->` stand for what the build emitted.
 */
export class PortalPage {
  constructor({ template }) {
    this.template = template;
  }

  apply(compiler) {
    compiler.hooks.thisCompilation.tap('PortalPage', (compilation) => {
      compilation.fileDependencies.add(this.template);
      compilation.hooks.processAssets.tap(
        { name: 'PortalPage', stage: webpack.Compilation.PROCESS_ASSETS_STAGE_REPORT },
        () => {
          const page = this.page(compilation.entrypoints.get('shell').getFiles());
          compilation.emitAsset('index.html', new webpack.sources.RawSource(page));
          compilation.emitAsset('csp.txt', new webpack.sources.RawSource(contentSecurityPolicy(page)));
        },
      );
    });
  }

  page(files) {
    const styles = files
      .filter((file) => file.endsWith('.css'))
      .map((file) => `<link rel="stylesheet" href="/${file}">`);
    const scripts = files
      .filter((file) => file.endsWith('.js'))
      .map((file) => `<script defer src="/${file}"></script>`);
    return readFileSync(this.template, 'utf8')
      .replace('<!-- styles -->', styles.join(''))
      .replace('<!-- scripts -->', scripts.join(''));
  }
}

/** antd writes its styles into the page at run time, hence `unsafe-inline` for styles, and only there. */
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
