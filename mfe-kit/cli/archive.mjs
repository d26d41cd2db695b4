import { readdir, readFile, stat } from 'node:fs/promises';
import { join, sep } from 'node:path';
import { Refusal } from './refusal.mjs';

/** Everything in a tar archive is in blocks of this size. */
const BLOCK = 512;

/** The server has room for source maps of 8 MiB, and publishes a build without larger ones. */
const MAX_MAP_BYTES = 8 * 1024 * 1024;

/**
 * The build in a folder as one tar archive, always the same for the same files. The server compresses files itself.
 * Written here, so that a container which publishes a build needs no packages.
 */
export async function archiveOf(folder) {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true }).catch(() => {
    throw new Refusal(`there is no build in ${folder}.`);
  });
  const paths = entries
    .filter((entry) => entry.isFile() && !/\.(br|gz)$/.test(entry.name))
    .map((entry) => join(entry.parentPath, entry.name).slice(folder.length + 1))
    .sort();
  const parts = [];
  for (const path of paths) {
    if (path.endsWith('.map') && (await stat(join(folder, path))).size > MAX_MAP_BYTES) continue;
    const content = await readFile(join(folder, path));
    const rest = Buffer.alloc((BLOCK - (content.length % BLOCK)) % BLOCK);
    parts.push(headerOf(path.split(sep), content.length), content, rest);
  }
  return Buffer.concat([...parts, Buffer.alloc(2 * BLOCK)]);
}

function headerOf(path, size) {
  const header = Buffer.alloc(BLOCK);
  const [folder, name] = halvesOf(path);
  const write = (text, at) => header.write(text, at, 'latin1');
  const writeNumber = (number, digits, at) => write(number.toString(8).padStart(digits, '0'), at);
  write(name, 0);
  writeNumber(0o644, 7, 100);
  writeNumber(0, 7, 108); // user,
  writeNumber(0, 7, 116); // group
  writeNumber(size, 11, 124);
  writeNumber(0, 11, 136); // and time are the same everywhere.
  write('0', 156); // a regular file
  write('ustar\x0000', 257);
  write(folder, 345);
  // Its sum counts itself as spaces.
  write(' '.repeat(8), 148);
  writeNumber(
    header.reduce((sum, byte) => sum + byte),
    6,
    148,
  );
  write('\0', 154);
  return header;
}

/** The folder and the name of a file, which have 155 and 100 characters at most. */
function halvesOf(path) {
  for (let at = 0; at < path.length; at++) {
    const [folder, name] = [path.slice(0, at), path.slice(at)].map((parts) => parts.join('/'));
    if (folder.length <= 155 && name.length <= 100 && /^[\x21-\x7e]+$/.test(folder + name))
      return [folder, name];
  }
  throw new Refusal(`the build has a file whose name can't be published: ${path.join('/')}.`);
}
