/** A loader of webpack: a file of examples also exports its own text as `code`. */
export default function withCode(source) {
  return `${source}\nexport const code = ${JSON.stringify(source)};\n`;
}
