/** Offers a file to the browser's downloads. Large files are passed in parts, which the browser may keep on disk. */
export function saveFile(name: string, parts: readonly BlobPart[], type = 'text/csv'): void {
  const url = URL.createObjectURL(new Blob([...parts], { type: `${type};charset=utf-8` }))
  const link = document.createElement('a')
  link.href = url
  link.download = name
  link.click()
  // The download has its own reference by then.
  setTimeout(() => URL.revokeObjectURL(url), 60_000)
}
