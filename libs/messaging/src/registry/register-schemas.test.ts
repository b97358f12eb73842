import { randomUUID } from 'node:crypto'
import { RECORDS } from '@backoffice/contracts/events.ts'
import { backingServices } from '@backoffice/testing/backing-services.ts'
import { expect, test } from 'vitest'
import { z } from 'zod'
import { registerSchemas } from './register-schemas.ts'

const Thing = z.strictObject({ id: z.string(), amount: z.int(), price: z.record(z.string(), z.int()).nullable() })

/** A topic of its own, whose subject nobody else registers for. */
function aTopicOfThings() {
  const topic = `test-${randomUUID()}`
  const subject = `${topic}-thing.created`
  return {
    subject,
    register: (shape: z.ZodType) =>
      registerSchemas(backingServices().registryUrl, { [topic]: { 'thing.created': shape } }),
    versions: async () => (await fetch(`${backingServices().registryUrl}/subjects/${subject}/versions`)).json(),
  }
}

test('every record type that services publish can be registered, and again', async () => {
  await registerSchemas(backingServices().registryUrl)
  await registerSchemas(backingServices().registryUrl)
  const subjects = (await (await fetch(`${backingServices().registryUrl}/subjects`)).json()) as string[]
  const expected = Object.entries(RECORDS).flatMap(([topic, types]) =>
    Object.keys(types).map((type) => `${topic}-${type}`),
  )
  expect(subjects).toEqual(expect.arrayContaining(expected))
})

test('registering the same again makes no new version', async () => {
  const { register, versions } = aTopicOfThings()
  await register(Thing)
  await register(Thing)
  expect(await versions()).toEqual([1])
})

test('several processes may register a new subject at the same moment', async () => {
  for (let round = 0; round < 5; round++) {
    const { register, versions } = aTopicOfThings()
    await Promise.all(Array.from({ length: 6 }, () => register(Thing)))
    expect(await versions()).toEqual([1])
  }
})

test('an optional member may be added', async () => {
  const { register, versions } = aTopicOfThings()
  await register(Thing)
  await register(Thing.extend({ note: z.string().optional() }))
  expect(await versions()).toEqual([1, 2])
})

test('a removed member is refused, and the message names the subject and why', async () => {
  const { subject, register, versions } = aTopicOfThings()
  await register(Thing)
  const refused = register(Thing.omit({ amount: true }))
  await expect(refused).rejects.toThrow(`${subject}: `)
  await expect(refused).rejects.toThrow('OBJECT_TYPE_PROPERTY_SCHEMAS_NARROWED')
  expect(await versions()).toEqual([1])
})

test('a new required member is refused', async () => {
  const { register } = aTopicOfThings()
  await register(Thing)
  await expect(register(Thing.extend({ note: z.string() }))).rejects.toThrow(
    'OBJECT_TYPE_REQUIRED_PROPERTIES_MEMBER_ADDED',
  )
})

test('what an older version than the last had may not be removed either', async () => {
  const { register } = aTopicOfThings()
  await register(Thing)
  await register(Thing.extend({ note: z.string().optional() }))
  await expect(register(Thing)).resolves.toBeUndefined()
  await expect(register(Thing.extend({ note: z.int().optional() }))).rejects.toThrow('SUBSCHEMA_TYPE_CHANGED')
})
