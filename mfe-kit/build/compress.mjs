import { readdir, readFile, writeFile } from 'node:fs/promises';
import { extname, join } from 'node:path';
import { promisify } from 'node:util';
import { brotliCompress, constants, gzip } from 'node:zlib';

const TEXT = new Set(['.js', '.css', '.html', '.json', '.svg', '.txt', '.webmanifest']);

/** Writes `.br` and `.gz` beside every text file in a folder, so that servers need not compress. */
async function compressFolder(folder) {
  const files = await readdir(folder, { recursive: true, withFileTypes: true });
  const texts = files.filter((file) => file.isFile() && TEXT.has(extname(file.name)));
  await Promise.all(texts.map((file) => compressFile(join(file.parentPath, file.name))));
}

/** Writes `.br` and `.gz` beside one file. */
export async function compressFile(path) {
  const bytes = await readFile(path);
  const [br, gz] = await Promise.all([
    promisify(brotliCompress)(bytes, {
      params: {
        [constants.BROTLI_PARAM_QUALITY]: constants.BROTLI_MAX_QUALITY,
        [constants.BROTLI_PARAM_SIZE_HINT]: bytes.length,
      },
    }),
    promisify(gzip)(bytes, { level: constants.Z_BEST_COMPRESSION }),
  ]);
  await Promise.all([writeFile(`${path}.br`, br), writeFile(`${path}.gz`, gz)]);
}

/** Compresses a build's files, after they are written because federation adds its manifest last. */
export class CompressAhead {
  apply(compiler) {
    compiler.hooks.afterEmit.tapPromise('CompressAhead', (compilation) =>
      compressFolder(compilation.outputOptions.path),
    );
  }
}
