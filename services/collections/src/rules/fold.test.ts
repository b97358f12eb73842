import { expect, test } from 'vitest'
import { fold } from './fold.ts'

test.each([
  ['STRASSE', 'straße'],
  ['GROẞ', 'groß'],
  ['ΟΔΟΣ', 'οδος'],
  ['İSTANBUL', 'istanbul'],
  ['IŞIK', 'ışık'],
  ['CAFÉ', 'cafe\u0301'],
  ['FINE', 'ﬁne'],
  ['T-SHIRT', 'Ｔ-ｓｈｉｒｔ'],
  ['a b', 'A\u00a0B'],
  ['Дом', 'дОМ'],
])('%s and %s are the same text', (one, other) => {
  expect(fold(one)).toBe(fold(other))
})

test.each([
  ['cafe', 'café'],
  ['a b', 'ab'],
  ['a b', 'a  b'],
  [' a', 'a'],
  ['a-b', 'a b'],
  ['%', '_'],
  ['👍', '👍🏽'],
])('%s and %s are different texts', (one, other) => {
  expect(fold(one)).not.toBe(fold(other))
})

test('control characters, line breaks among them, become spaces', () => {
  expect(fold('a\nb\r\nc\td\0e\u0085f')).toBe('a b  c d e f')
})

test('an unpaired surrogate becomes what the database would store for it', () => {
  expect(fold('a\ud800b')).toBe('a\ufffdb')
})

/** Characters without other case or encoding. */
const PLAIN = /\p{Cn}|\p{Co}|\p{Unified_Ideograph}|\p{Script=Hangul}/u

test('every character folds to a text that stays as it is, whatever its case and its encoding were', () => {
  const wrong: string[] = []
  for (let code = 0; code <= 0x10ffff; code++) {
    const character = String.fromCodePoint(code)
    if (PLAIN.test(character)) continue
    const folded = fold(character)
    const others = [
      folded,
      character.toUpperCase(),
      character.toLowerCase(),
      character.normalize('NFC'),
      character.normalize('NFD'),
    ]
    const isSame = others.every((other) => fold(other) === folded)
    if (!isSame || folded === '' || /\p{Cc}/u.test(folded) || !folded.isWellFormed()) wrong.push(code.toString(16))
  }
  expect(wrong).toEqual([])
})

test('a part of a text is a part of it folded, also where letters look different at the end of a word', () => {
  expect(fold('ΟΔΟΣ ΑΘΗΝΑΣ').startsWith(fold('ΟΔΟΣ'))).toBe(true)
  expect(fold('ΟΔΟΣΑΘΗΝΑ').startsWith(fold('ΟΔΟΣ'))).toBe(true)
})
