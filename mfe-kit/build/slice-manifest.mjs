import MiniCssExtractPlugin from 'mini-css-extract-plugin';
import webpack from 'webpack';
import { isUpdate } from './chunks.mjs';
import { integrityOf, MANIFEST } from './manifest.mjs';

/**
 * Adds to the manifest of a slice's build what the slice brings, the calls that its screens make first and, in
 * production, the integrity of every script and style. The build's own code asks the page for the integrity of each
 * file that it loads: the shell has it from the manifest, which it has checked.
 */
export class SliceManifest {
  constructor({ brings, reads }) {
    Object.assign(this, { brings, reads });
  }

  apply(compiler) {
    const isProduction = compiler.options.mode === 'production';
    compiler.hooks.thisCompilation.tap('SliceManifest', (compilation) => {
      if (isProduction) checkLoadedFiles(compilation);
      const stage = webpack.Compilation.PROCESS_ASSETS_STAGE_REPORT;
      compilation.hooks.processAssets.tap({ name: 'SliceManifest', stage }, (assets) => {
        if (!assets[MANIFEST]) return; // the build has failed
        const files = Object.keys(assets).filter((file) => /\.(js|css)$/.test(file));
        const integrity = Object.fromEntries(
          files.sort().map((file) => [file, integrityOf(assets[file].buffer())]),
        );
        const manifest = {
          ...JSON.parse(assets[MANIFEST].source().toString(), withoutUpdates),
          brings: this.brings,
          reads: this.reads,
          ...(isProduction ? { integrity } : {}),
        };
        compilation.updateAsset(MANIFEST, new webpack.sources.RawSource(JSON.stringify(manifest)));
      });
    });
  }
}

function withoutUpdates(_key, value) {
  return Array.isArray(value) ? value.filter((file) => typeof file !== 'string' || !isUpdate(file)) : value;
}

/** Makes the build's runtime set `integrity` on the scripts and styles that it loads. */
function checkLoadedFiles(compilation) {
  const setIntegrity = (tag, address) =>
    `if (self.__INTEGRITY__) ${tag}.integrity = self.__INTEGRITY__(${address});`;
  webpack.runtime.LoadScriptRuntimeModule.getCompilationHooks(compilation).createScript.tap(
    'SliceManifest',
    (source) => `${source}\n${setIntegrity('script', 'url')}`,
  );
  MiniCssExtractPlugin.getCompilationHooks(compilation).beforeTagInsert.tap(
    'SliceManifest',
    (source, { tag, href }) => `${source}\n${setIntegrity(tag, href)}`,
  );
}
