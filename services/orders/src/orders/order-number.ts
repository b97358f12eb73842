import { randomBytes } from 'node:crypto'

/** Digits and capital letters that are not mistaken for each other: without I, L, O and U (Crockford's base 32). */
const ALPHABET = '0123456789ABCDEFGHJKMNPQRSTVWXYZ'
const LENGTH = 8

/**
 * A number for a new order: eight characters at random, so that no counter has to be locked. A number that the
 * workspace has already violates its unique constraint, and the transaction runs again (decision 003).
 */
export const newOrderNumber = (): string => Array.from(randomBytes(LENGTH), (byte) => ALPHABET[byte % 32]).join('')
