import { relative } from 'node:path';
import webpack from 'webpack';

/**
 * Writes `chunks.json`: the files of every module that is loaded on demand, by its path or its shared
 * name. The size check reads it.
 */
export class ChunkList {
  apply(compiler) {
    compiler.hooks.thisCompilation.tap('ChunkList', (compilation) => {
      compilation.hooks.processAssets.tap(
        { name: 'ChunkList', stage: webpack.Compilation.PROCESS_ASSETS_STAGE_REPORT },
        () => {
          const list = JSON.stringify(chunksByModule(compilation, compiler.context), null, 2);
          compilation.emitAsset('chunks.json', new webpack.sources.RawSource(`${list}\n`));
        },
      );
    });
  }
}

/** The files of each module that is loaded on demand. */
export function chunksByModule({ chunkGraph, modules, moduleGraph }, context) {
  const chunks = {};
  for (const origin of modules) {
    for (const block of origin.blocks) {
      const files = chunkGraph
        .getBlockChunkGroup(block)
        ?.getFiles()
        .filter((file) => /\.(js|css)$/.test(file) && !isUpdate(file));
      if (!files?.length) continue;
      for (const dependency of block.dependencies) {
        const path = moduleGraph.getModule(dependency)?.nameForCondition();
        if (path) chunks[nameOf(relative(context, path))] = files;
      }
    }
  }
  return chunks;
}

/** Returns whether a file is a hot update for open pages; webpack lists it in its chunk, too. */
export function isUpdate(file) {
  return file.includes('.hot-update.');
}

/** A module of mfe-kit is listed under its shared name. */
function nameOf(path) {
  return path.replace(/^\.\.\/(mfe-kit)\/src\/(.*)\.tsx?$/, '$1/$2');
}
