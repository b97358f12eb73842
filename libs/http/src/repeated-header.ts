import type { IncomingMessage } from 'node:http'

/** Whether a request has a header more than once; `name` is in lower case. Node reads the first of many alone. */
export const isRepeated = ({ rawHeaders }: Pick<IncomingMessage, 'rawHeaders'>, name: string): boolean =>
  rawHeaders.filter((text, index) => index % 2 === 0 && text.toLowerCase() === name).length > 1
