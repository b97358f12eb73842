/** The scheme and authority of a target in absolute form (RFC 9112, 3.2.2). */
const ORIGIN = /^https?:\/\/[^/?#]*/i
/** A character that means the same encoded and not (RFC 3986, 6.2.2.2). */
const ENCODED_UNRESERVED = /%(?:2[de]|3\d|4[1-9a-f]|5[0-9af]|6[1-9a-f]|7[0-9ae])/gi

/**
 * A request target in the one spelling that every reader of it gets: in origin form, without a fragment, and with no
 * character of the path encoded that need not be. The router reads `/%61dmin` and `http://host/admin` as `/admin`, so
 * that whoever compares the beginning of the path has to read it in the same way.
 */
export function plainTarget(target: string): string {
  const isAbsolute = ORIGIN.test(target)
  if (!isAbsolute && !/[%#]/.test(target)) return target
  const [, path = '', query = ''] = /^([^?#]*)(\?[^#]*)?/.exec(target.replace(ORIGIN, '')) ?? []
  return (isAbsolute && path === '' ? '/' : path.replace(ENCODED_UNRESERVED, decodeURIComponent)) + query
}
