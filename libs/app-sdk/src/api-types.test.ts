import { expectTypeOf, it } from 'vitest'
import type { apiClient } from './api-client.ts'
// Made at install: `npm run generate:api` makes it again.
import type { components, operations, webhooks } from './api-types.ts'

// `tsc` checks what these tests say: the types are gone when they run.

type Json<Body> = Body extends { content: { 'application/json': infer Schema } } ? Schema : never
type Named = components['schemas']
type Unknown<Schemas> = { [Name in keyof Schemas]: unknown extends Schemas[Name] ? Name : never }[keyof Schemas]
type Event = Json<webhooks[keyof webhooks]['post']['requestBody']>

it('has a type for every named schema', () => {
  expectTypeOf<Unknown<Named>>().toBeNever()
})

it('knows the bodies of an operation', () => {
  expectTypeOf<Json<operations['createProduct']['responses'][201]>['name']>().toBeString()
  type Input = Json<NonNullable<operations['createProduct']['requestBody']>>
  expectTypeOf<{ name: 'Shirt'; type: 'SIMPLE_PRODUCT' }>().toExtend<Input>()
})

it('takes requests without the members that have a default, and files as a Blob', () => {
  expectTypeOf<{ url: string; enabled_events: ['*'] }>().toExtend<Named['WebhookEndpointInput']>()
  expectTypeOf<Named['SecretRotation']['overlap_seconds']>().toEqualTypeOf<number | undefined>()
  type Upload = NonNullable<operations['uploadImport']['requestBody']>['content']['multipart/form-data']
  expectTypeOf<Upload['file']>().toEqualTypeOf<Blob>()
})

it('knows the data of an event by its type', () => {
  expectTypeOf<Extract<Event, { type: 'order.paid' }>['data']['order_number']>().toBeString()
  expectTypeOf<Extract<Event, { type: 'product.updated' }>['data']['name']>().toBeString()
})

it('knows the values that a state has today, and that others may come (OP-244)', () => {
  type Status = Named['Order']['status']
  expectTypeOf<'PLACED'>().toExtend<Status>()
  expectTypeOf<string>().toExtend<Status>()
  expectTypeOf<Named['OrderUpdate']['status']>().toEqualTypeOf<
    'CART' | 'PLACED' | 'COMPLETED' | 'CANCELLED' | undefined
  >()
  // @ts-expect-error A misspelt member of an answer is an error, though members may come.
  type _Misspelt = Named['Order']['statuss']
})

it('hands a state on as a text, with the known values', async () => {
  type Answer = Awaited<ReturnType<typeof askForAnOrder>>
  expectTypeOf<NonNullable<Answer['data']>['status']>().toExtend<string>()
})
const askForAnOrder = (api: ReturnType<typeof apiClient>, id: string) =>
  api.GET('/v1/orders/{id}', { params: { path: { id } } })
