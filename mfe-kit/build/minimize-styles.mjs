import { transform } from 'lightningcss';
import webpack from 'webpack';

/** Minimizes the style sheets of a build. */
export class MinimizeStyles {
  apply(compiler) {
    compiler.hooks.thisCompilation.tap('MinimizeStyles', (compilation) => {
      const stage = webpack.Compilation.PROCESS_ASSETS_STAGE_OPTIMIZE_SIZE;
      compilation.hooks.processAssets.tap({ name: 'MinimizeStyles', stage }, (assets) => {
        for (const [filename, source] of Object.entries(assets)) {
          if (!filename.endsWith('.css')) continue;
          const { code } = transform({ filename, code: source.buffer(), minify: true });
          compilation.updateAsset(filename, new webpack.sources.RawSource(code));
        }
      });
    });
  }
}
