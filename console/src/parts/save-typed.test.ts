import { expect, it } from 'vitest'
import { ApiFailure } from '../api/failure.ts'
import { Clash, saveTyped, type Texts } from './save-typed.ts'

/** A resource of texts that others change while a form is open, and what is saved of it. */
function shared(begun: Texts, theirs: Texts) {
  let [now, tag] = [begun, 1]
  const saved: Texts[] = []
  const saving = (typed: Texts) =>
    saveTyped({
      base: { body: begun, tag: '1' },
      typed,
      fieldsOf: (texts) => Object.entries(texts).map(([name, value]) => ({ name, label: name, value })),
      read: async () => ({ body: now, tag: String(tag) }),
      async save({ changed }, ifMatch) {
        if (ifMatch !== String(tag)) throw new ApiFailure(412, 'precondition_failed', 'changed')
        saved.push(changed)
      },
    })
  ;[now, tag] = [{ ...begun, ...theirs }, 2]
  return { saving, saved }
}
const BEGUN = { name: 'Mug', stock: '5', description: '' }

it('leaves to others what was typed and put back', async () => {
  const { saving, saved } = shared(BEGUN, { name: 'Cup', stock: '4' })
  await saving({ name: 'Mug', stock: '5', description: 'Blue' })
  expect(saved).toEqual([{ description: 'Blue' }])
})

it('saves nothing that somebody else has changed too, and tells both', async () => {
  const { saving, saved } = shared(BEGUN, { name: 'Cup', description: 'Red' })
  const clash = await saving({ name: 'Mug', stock: '6', description: 'Blue' }).catch((error: unknown) => error)
  expect(clash).toBeInstanceOf(Clash)
  expect(clash).toMatchObject({ mine: { stock: '6', description: 'Blue' }, theirs: { description: 'Red' } })
  expect((clash as Clash<Texts>).mine).not.toHaveProperty('name')
  expect(saved).toEqual([])
})

it('sends nothing when others have made the same of it, or nothing differs', async () => {
  const { saving, saved } = shared(BEGUN, { description: 'Blue' })
  await saving({ description: 'Blue' })
  await saving({ name: 'Mug' })
  expect(saved).toEqual([])
})
