/** The text of a blob; jsdom's blobs have no `text()`. */
export const textOf = (body: Blob) =>
  new Promise<string>((resolve) => {
    const reader = new FileReader();
    reader.onload = () => resolve(reader.result as string);
    reader.readAsText(body);
  });
