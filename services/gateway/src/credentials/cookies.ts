import type { IncomingHttpHeaders } from 'node:http'

/** The values of the cookies of a name in a request: a browser sends several where it has them for several paths. */
export const cookiesOf = ({ cookie = '' }: IncomingHttpHeaders, name: string): string[] =>
  cookie
    .split(/; */)
    .filter((one) => one.startsWith(`${name}=`))
    .map((one) => one.slice(name.length + 1))
