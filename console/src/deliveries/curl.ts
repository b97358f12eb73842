import type { Attempt } from './attempt.tsx'

/** A text as one word of a POSIX shell. */
const quoted = (text: string): string => `'${text.replaceAll("'", `'\\''`)}'`

/** The request of an attempt as a command, with the body as a whole. */
export const curlOf = ({ url, headers }: Attempt['request'], body: string): string =>
  [
    `curl --request POST --url ${quoted(url)}`,
    ...Object.entries(headers)
      .filter(([name]) => !/^(host|content-length|connection)$/i.test(name))
      .map(([name, value]) => `--header ${quoted(`${name}: ${value}`)}`),
    `--data-raw ${quoted(body)}`,
  ].join(' \\\n  ')
