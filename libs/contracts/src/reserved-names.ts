import { Name } from './fields.ts'

/** Words for who acts in the audit log, and for the platform: a person or app of that name could pass for it. */
const RESERVED: ReadonlySet<string> = new Set([
  'apps',
  'backoffice',
  'bootstrap',
  'merchant',
  'operator',
  'platform',
  'support',
  'system',
])

/** Whether a name reads as a reserved word: case, width, spaces and punctuation make no difference. */
export const isReservedName = (name: string): boolean =>
  RESERVED.has(
    name
      .normalize('NFKC')
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{N}]/gu, ''),
  )

export const RESERVED_NAME = 'must be another name: this one is reserved for the platform (OP-239)'

/** Characters that nobody sees, such as a zero-width space. */
const INVISIBLE = /\p{C}|\p{Default_Ignorable_Code_Point}/u

/** A name that stands for somebody: two that look alike to the letter are one (OP-239). */
export const PlainName = Name.refine(
  (name) => !INVISIBLE.test(name) && name.normalize('NFKC').replaceAll(/\s+/g, ' ').trim() === name,
  'must have no invisible or compatibility characters, and no spaces around it or in a row',
).refine((name) => !isReservedName(name), RESERVED_NAME)
