import { aCaller } from '@backoffice/testing/caller.ts'
import { eventually } from '@backoffice/testing/eventually.ts'
import { expect, it } from 'vitest'
import { aSimpleProduct, aVariableProduct } from '../products/testing/product-samples.ts'
import { aVariant, catalogUnderTest, type ProductUnderTest, type Variant } from './testing/variants-api.ts'

const { admin, send, newProduct, newProductWithoutOptions, read, told, unexplainedStock } = await catalogUnderTest()
const ROUNDS = 20

const statuses = (answers: { status: number }[]) => answers.map(({ status }) => status).sort()
const create = ({ caller, variants }: ProductUnderTest, body: unknown) =>
  send<Variant & { error?: { message: string } }>(caller, 'POST', variants, body)
const rounds = async (round: (number: number) => Promise<void>) => {
  for (let number = 0; number < ROUNDS; number++) await round(number)
  expect(await unexplainedStock()).toEqual([])
}

/** Each change told once, the versions without a gap, the last as the product is now. */
async function expectAllTold(made: ProductUnderTest, changes: number) {
  const records = await told(made)
  const states = records.filter(({ type }) => type === 'product.state')
  expect(states.map(({ payload }) => payload.version)).toEqual(Array.from({ length: changes + 1 }, (_, at) => at + 1))
  expect(records.filter(({ type }) => type === 'product.updated')).toHaveLength(changes)
  expect(records.at(-2)?.payload).toEqual(await read(made))
}

it('makes one of several variants with one combination at once and refuses the others', () =>
  rounds(async () => {
    const made = await newProduct()
    const answers = await Promise.all([1, 2, 3].map(() => create(made, aVariant('L'))))
    expect(statuses(answers)).toEqual([201, 422, 422])
    for (const { body } of answers) if (body.error) expect(body.error.message).toContain('has the same combination')
    expect((await read(made)).options[0]?.values).toEqual(['S', 'M', 'L'])
    await expectAllTold(made, 1)
  }))

it('makes several variants with one new value at once and adds the value once', () =>
  rounds(async () => {
    const options = [
      { name: 'Size', values: ['S', 'M'] },
      { name: 'Colour', values: ['Red'] },
    ]
    const first = { sku: crypto.randomUUID(), attributes: { Size: 'S', Colour: 'Red' }, stock: 1 }
    const made = await newProduct(aVariableProduct({ options, variants: [first] }))
    const answers = await Promise.all(
      ['S', 'M', 'L'].map((Size) => create(made, aVariant('', { attributes: { Size, Colour: 'Blue' } }))),
    )
    expect(statuses(answers)).toEqual([201, 201, 201])
    const product = await read(made)
    expect(product.options.map(({ values }) => values)).toEqual([
      ['S', 'M', 'L'],
      ['Red', 'Blue'],
    ])
    const rows = await admin`select position from variant where product_id = ${product.id} order by position`
    expect(rows.map(({ position }) => position)).toEqual([1, 2, 3, 4])
    await expectAllTold(made, 3)
  }))

it('gives several products one new value and one new option at once', () =>
  rounds(async () => {
    const caller = aCaller()
    const made = await Promise.all([newProduct(undefined, caller), newProduct(undefined, caller)])
    const without = await Promise.all([newProductWithoutOptions(caller), newProductWithoutOptions(caller)])
    const Fit = aVariant('', { attributes: { Fit: 'Slim', Size: 'L' } })
    const answers = await Promise.all([
      ...made.map((one) => create(one, aVariant('L'))),
      ...without.map((one) => create(one, { ...Fit, sku: crypto.randomUUID() })),
    ])
    expect(statuses(answers)).toEqual([201, 201, 201, 201])
    const values = await admin`
      select name, value from option join option_value on option_id = option.id
      where option.workspace_id = ${caller.workspaceId} order by name, value`
    expect(values.map(({ name, value }) => `${name} ${value}`)).toEqual(['Fit Slim', 'Size L', 'Size M', 'Size S'])
  }))

it('lets the first of several first variants define the options', () =>
  rounds(async () => {
    const made = await newProductWithoutOptions()
    const answers = await Promise.all([
      create(made, aVariant('S')),
      create(made, aVariant('', { attributes: { Colour: 'Red' } })),
    ])
    expect(statuses(answers)).toEqual([201, 422])
    const product = await read(made)
    expect([product.options.length, product.variants.length]).toEqual([1, 1])
  }))

it('gives one of several variants the SKU they ask for at once', () =>
  rounds(async (round) => {
    const caller = aCaller()
    const [one, other] = await Promise.all([newProduct(undefined, caller), newProduct(undefined, caller)])
    const sku = `sku-${round}`
    const answers = await Promise.all([
      create(one, aVariant('L', { sku })),
      create(other, aVariant('L', { sku })),
      send(caller, 'PUT', one.variant(0), { sku }),
      send(caller, 'PUT', other.variant(1), { sku }),
      send(caller, 'POST', '/v1/products', aSimpleProduct({ sku })),
    ])
    expect(answers.filter(({ status }) => status < 300)).toHaveLength(1)
    expect(answers.filter(({ status }) => status === 409)).toHaveLength(4)
    const owners = await admin`select from variant where workspace_id = ${caller.workspaceId} and sku = ${sku}`
    expect(owners).toHaveLength(1)
  }))

it('leaves one variant when all are deleted at once', () =>
  rounds(async () => {
    const made = await newProduct()
    const answers = await Promise.all([0, 1].map((index) => send(made.caller, 'DELETE', made.variant(index))))
    expect(statuses(answers)).toEqual([204, 422])
    expect((await read(made)).variants).toHaveLength(1)
    await expectAllTold(made, 1)
  }))

it('deletes a variant once', () =>
  rounds(async () => {
    const made = await newProduct()
    const answers = await Promise.all([1, 2].map(() => send(made.caller, 'DELETE', made.variant(0))))
    expect(statuses(answers)).toEqual([204, 404])
    await expectAllTold(made, 1)
  }))

it('applies several updates of one variant at once, each the members it sends', () =>
  rounds(async (round) => {
    const made = await newProduct()
    const members = [{ price: { NGN: round } }, { stock: 77 }, { attributes: { Size: 'L' } }, { sku: `new-${round}` }]
    const answers = await Promise.all([
      ...members.map((one) => send(made.caller, 'PUT', made.variant(0), one)),
      send(made.caller, 'PUT', made.variant(1), { attributes: { Size: 'XL' } }),
      send(made.caller, 'PUT', `/v1/products/${made.product.id}`, { name: 'Jumper' }),
    ])
    expect(statuses(answers)).toEqual(answers.map(() => 200))
    const product = await read(made)
    const size = product.options[0]?.id ?? ''
    expect(product.name).toBe('Jumper')
    expect(product.variants[0]).toMatchObject({
      price: { NGN: round },
      stock: 77,
      attributes: { [size]: 'L' },
      sku: `new-${round}`,
    })
    expect(product.options[0]?.values.toSorted()).toEqual(['L', 'M', 'S', 'XL'])
    await expectAllTold(made, 6)
  }))

it('gives one of two variants the combination both want at once', () =>
  rounds(async () => {
    const made = await newProduct()
    const answers = await Promise.all(
      [0, 1].map((index) => send(made.caller, 'PUT', made.variant(index), { attributes: { Size: 'L' } })),
    )
    expect(statuses(answers)).toEqual([200, 422])
  }))

it('never writes back a stock it only read while orders take some', () =>
  rounds(async (round) => {
    const made = await newProduct(
      aVariableProduct({ variants: [{ sku: crypto.randomUUID(), attributes: { Size: 'S' }, stock: 100 }] }),
    )
    const id = made.product.variants[0]?.id ?? ''
    const take = () => admin`update variant set stock = stock - 1 where id = ${id}`
    await Promise.all([
      take(),
      send(made.caller, 'PUT', made.variant(0), { price: { NGN: round }, sku: `kept-${round}` }),
      take(),
      create(made, aVariant('M')),
      send(made.caller, 'PUT', made.variant(0), { attributes: { Size: 'L' } }),
      take(),
    ])
    const [row] = await admin<{ stock: number }[]>`select stock::int from variant where id = ${id}`
    expect(row?.stock).toBe(97)
  }))

/** Sends a request while a transaction that did something to the same rows is about to commit, and waits for that. */
async function sendBehind<Answer>(change: (tx: typeof admin) => Promise<unknown>, request: () => Promise<Answer>) {
  const { answer } = await admin.begin(async (tx) => {
    await change(tx as unknown as typeof admin)
    const answer = request()
    await eventually('the request waits for the transaction', async () => {
      const waiting = await admin`
        select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`
      return waiting.length > 0
    })
    return { answer }
  })
  return answer
}

const updateBehindOrder = ({ caller, variant, product }: ProductUnderTest, members: unknown) =>
  sendBehind(
    (tx) => tx`update variant set stock = stock - 1 where id = ${product.variants[0]?.id ?? null}`,
    () => send<Variant>(caller, 'PUT', variant(0), members),
  )

it('compares the stock it is sent with what an order leaves (OP-73)', async () => {
  const made = await newProduct()
  expect((await updateBehindOrder(made, { stock: 0 })).body.stock).toBe(0)
  expect(await told(made)).toHaveLength(2)
  expect((await updateBehindOrder(made, { stock: 6 })).body.stock).toBe(6)
  await expectAllTold(made, 1)
  expect(await unexplainedStock()).toEqual([])
})

it('tells the stock that an order leaves', async () => {
  const made = await newProduct()
  const { body } = await updateBehindOrder(made, { price: null })
  expect(body).toMatchObject({ stock: 0, price: {} })
  await expectAllTold(made, 1)
})

it('says of a combination that appears at the last moment what it says of one that was there', async () => {
  for (const method of ['POST', 'PUT'] as const) {
    const made = await newProduct()
    const attributes = JSON.stringify({ [made.product.options[0]?.id ?? '']: 'L' })
    const { status, body } = await sendBehind(
      (tx) => tx`
        insert into variant (workspace_id, id, product_id, sku, stock, price, cost, attributes, position)
        values (
          ${made.caller.workspaceId}, ${crypto.randomUUID()}, ${made.product.id}, 'faster', 0, '{}', '{}',
          ${attributes}::text::jsonb, 9
        )`,
      () =>
        method === 'POST'
          ? send(made.caller, method, made.variants, aVariant('L'))
          : send(made.caller, method, made.variant(0), { attributes: { Size: 'L' } }),
    )
    expect([status, body.error.message]).toEqual([422, 'attributes: the variant "faster" has the same combination'])
    expect((await read(made)).options).toEqual(made.product.options)
  }
})
