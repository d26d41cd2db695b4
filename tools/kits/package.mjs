/** The steps of packing that both kits have in common. */
import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { copyFile, readdir, readFile, writeFile } from 'node:fs/promises';
import { dirname, join, relative } from 'node:path';
import { promisify } from 'node:util';
import '../../contract/generate.mjs';
import { readPackage, root } from '../portal/slices.mjs';

const run = promisify(execFile);

/** Compiles a kit's `src/` into `dist/` of its package: ES modules, and type declarations that any tool resolves. */
export async function compile(kit, folder) {
  const tsc = join(root, 'node_modules/typescript/bin/tsc');
  await run(process.execPath, [tsc, '--project', join(kit, 'tsconfig.package.json')]);
  const dist = join(folder, 'dist');
  await copyFile(join(root, 'contract/types.d.ts'), join(dist, 'contract.d.ts'));
  for (const file of await readdir(dist, { recursive: true })) {
    if (!/\.(js|d\.ts)$/.test(file)) continue;
    const path = join(dist, file);
    const text = await readFile(path, 'utf8');
    await writeFile(path, withFileNames(text, dirname(path), dist));
  }
}

/** Names the files in the imports of a compiled module in `folder`; the contract's types are in `dist`. */
function withFileNames(text, folder, dist) {
  return text.replaceAll(
    /(\b(?:from|import) ?\(?)(['"])(\.[^'"]*|mkopo-contract)\2/g,
    (whole, before, quote, name) => {
      const contract = `${relative(folder, dist) || '.'}/contract`;
      const path = name === 'mkopo-contract' ? contract : name;
      const ending = ['.js', '/index.js', '.d.ts'].find((end) => existsSync(join(folder, `${path}${end}`)));
      return ending ? `${before}${quote}${path}${ending.replace('.d.ts', '.js')}${quote}` : whole;
    },
  );
}

/**
 * A package's own description, with its entries where they are in what is packed, and without what only this
 * repository needs.
 */
export async function descriptionOf(name) {
  const { exports, ...own } = await readPackage(name);
  for (const field of ['private', 'scripts', 'devDependencies']) Reflect.deleteProperty(own, field);
  const entries = Object.entries(exports).map(([entry, file]) => [entry, exported(file)]);
  return { ...own, exports: Object.fromEntries(entries) };
}

/** Where an entry's file is in the package. */
function exported(file) {
  const built = file.replace(/^\.\/src\//, './dist/').replace(/\.tsx?$/, '.js');
  if (built.endsWith('.js')) return { types: built.replace(/\.js$/, '.d.ts'), default: built };
  if (built.endsWith('.mjs')) return { types: built.replace(/\.mjs$/, '.d.mts'), default: built };
  return built.replace('./build/slice.tsconfig.json', './tsconfig.json');
}

/** Packs a package's folder beside it, with the given description. */
export async function pack(folder, description) {
  await writeFile(join(folder, 'package.json'), `${JSON.stringify(description, null, 2)}\n`);
  const into = dirname(folder);
  const { stdout } = await run('npm', ['pack', '--json', '--pack-destination', into], { cwd: folder });
  const [{ filename, size, integrity }] = Object.values(JSON.parse(stdout));
  console.log(`${relative(root, into)}/${filename}: ${size} bytes, ${integrity}`);
}
