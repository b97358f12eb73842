import { describe, expect, it } from 'vitest'
import { type SlugFamily, slugChooser, takenOrRepeatedSlugs } from './slug-families.ts'

const family = (slug: string, highest = 1): SlugFamily => ({ slug, isTaken: true, highest })
const choose = (derived: string[], families: SlugFamily[] = [], explicit: string[] = []) =>
  derived.map(slugChooser(families, new Set(explicit), derived))

describe('the families that need a number', () => {
  it.each<[string, string[], string[], string[]]>([
    ['none, where every slug is free and wanted once', ['a', 'b'], [], []],
    ['those that are taken', ['a', 'b'], ['b'], ['b']],
    ['those that are wanted twice, once each', ['a', 'b', 'a', 'a'], [], ['a']],
  ])('are %s', (_, derived, taken, expected) => {
    expect(takenOrRepeatedSlugs(derived, (slug) => taken.includes(slug))).toEqual(expected)
  })
})

describe('the slug of a new product (OP-14)', () => {
  it.each<[string, string[], SlugFamily[], string[], string[]]>([
    ['is the derived one while it is free', ['mug'], [], [], ['mug']],
    ['gets the next number where it is taken', ['mug'], [family('mug')], [], ['mug-2']],
    ['goes on after the highest number of the family', ['mug', 'mug'], [family('mug', 7)], [], ['mug-8', 'mug-9']],
    ['is numbered within the batch', ['mug', 'mug'], [{ ...family('mug'), isTaken: false }], [], ['mug', 'mug-2']],
    ['is no slug that a row gives', ['mug', 'mug'], [family('mug')], ['mug-2'], ['mug-3', 'mug-4']],
    ['is not derived where a row gives it', ['mug'], [{ ...family('mug'), isTaken: false }], ['mug'], ['mug-2']],
    [
      'leaves a number that is another product’s derived slug',
      ['mug', 'mug', 'mug-2'],
      [{ ...family('mug'), isTaken: false }],
      [],
      ['mug', 'mug-3', 'mug-2'],
    ],
  ])('%s', (_, derived, families, explicit, expected) => {
    expect(choose(derived, families, explicit)).toEqual(expected)
  })

  it('is found for tens of thousands of rows of one family', () => {
    const wanted = Array.from({ length: 20_000 }, (_, index) => `mug-${index + 2}`)
    expect(choose([...wanted, 'mug', 'mug']).at(-1)).toBe('mug-20002')
  })

  it('is refused when the family’s numbers are used up', () => {
    expect(() => choose(['mug'], [family('mug', 999_999_999)])).toThrow(/^name: no slug is left/)
  })
})
