import { expect, it } from 'vitest'
import { mostBytesOfNext, PLACES } from './places.ts'

const MIB = 1024 * 1024
const GIB = 1024 * MIB

/** Which of these files find a place, one after the other, while none ends. */
function placed(...files: number[]): number[] {
  const held: number[] = []
  for (const file of files) if (file <= (mostBytesOfNext(held) ?? 0)) held.push(file)
  return held
}

it('however many workspaces validate large files, those of others find a place', () => {
  const large = Array(20).fill(GIB)
  const medium = Array(20).fill(50 * MIB)
  expect(placed(...large)).toHaveLength(3)
  expect(placed(...large, ...medium)).toHaveLength(6)
  expect(placed(...large, ...medium, MIB, MIB, MIB)).toHaveLength(PLACES)
})

it('small files keep no large one from a place that is free', () => {
  expect(placed(...Array(7).fill(MIB), GIB)).toContain(GIB)
  expect(placed(...Array(3).fill(50 * MIB), GIB)).toContain(GIB)
})
