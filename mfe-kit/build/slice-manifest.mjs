import { createHash } from 'node:crypto';
import MiniCssExtractPlugin from 'mini-css-extract-plugin';
import webpack from 'webpack';

/** The file in which a build describes itself. */
export const MANIFEST = 'mf-manifest.json';

/** What a package says that its slice brings: the parts of `slice` in package.json that the portal reads. */
export function bringsOf({ slice = {} }) {
  const { screens = [], menu = [], failures = {} } = slice;
  return { screens, menu, failures };
}

/** The entry of `slices.json` for a build, from the bytes of its manifest and their address. */
export function listedBuild(entry, bytes) {
  const { metaData, shared, brings } = JSON.parse(bytes);
  return {
    version: metaData.buildInfo.buildVersion,
    entry,
    integrity: integrityOf(bytes),
    shell: shared.find(({ name }) => name === 'mfe-kit').requiredVersion,
    ...brings,
    previous: null,
  };
}

/** The subresource integrity of a file's content. */
export function integrityOf(content, algorithm = 'sha384') {
  return `${algorithm}-${createHash(algorithm).update(content).digest('base64')}`;
}

/**
 * Adds to the manifest of a slice's build what the slice brings and, in production, the integrity of every
 * script and style. The build's own code asks the page for the integrity of each file that it loads: the
 * shell has it from the manifest, which it has checked.
 */
export class SliceManifest {
  constructor(brings) {
    this.brings = brings;
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
          ...JSON.parse(assets[MANIFEST].source().toString()),
          brings: this.brings,
          ...(isProduction ? { integrity } : {}),
        };
        compilation.updateAsset(MANIFEST, new webpack.sources.RawSource(JSON.stringify(manifest)));
      });
    });
  }
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
