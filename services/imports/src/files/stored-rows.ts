/** The rows of a line of the file of rows. The error has none of their text, which may be personal. */
export function storedRows<Row>(line: string | undefined): Row[] {
  try {
    return JSON.parse(line ?? '')
  } catch {
    throw new Error('a line of the file of rows is cut or damaged')
  }
}
