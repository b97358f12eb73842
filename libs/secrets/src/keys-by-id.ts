import { z } from 'zod'

/**
 * A setting `<key id>:<key>`, comma-separated, each id once. `read` returns a key, or what is wrong with it. A refusal
 * never repeats the value: any part may be a key.
 */
export const keysById = <Key extends object>(form: string, read: (encoded: string) => Key | string) =>
  z.string().transform((text, context): ReadonlyMap<string, Key> => {
    const keys = new Map<string, Key>()
    for (const [index, entry] of text.split(',').entries()) {
      const [id = '', encoded, ...rest] = entry.trim().split(':')
      const isPair = id !== '' && encoded !== undefined && rest.length === 0
      const key = isPair ? read(encoded) : 'is not a key id and a key with one colon between'
      if (typeof key === 'string' || keys.has(id)) {
        const problem = typeof key === 'string' ? key : 'repeats a key id'
        context.addIssue(`must be <key id>:${form}, comma-separated, each key id once: entry ${index + 1} ${problem}`)
        return z.NEVER
      }
      keys.set(id, key)
    }
    return keys
  })
