const copies = <Value>(count: number, value: Value): Value[] => Array.from({ length: count }, () => value)

/** A schema that may be saved, and an order whose check takes too long: 4,000 checks for each of 150,000 numbers. */
export const SLOW = {
  schema: {
    $defs: {
      one: { type: 'number' },
      some: { allOf: copies(16, { $ref: '#/$defs/one' }) },
      many: { allOf: copies(16, { $ref: '#/$defs/some' }) },
      all: { allOf: copies(8, { $ref: '#/$defs/many' }) },
    },
    properties: { numbers: { items: { $ref: '#/$defs/all' } } },
  },
  members: { numbers: copies(150_000, 1) },
}

/** A schema that may be saved, and an order whose check needs too much memory: ajv keeps the errors of all branches. */
export const LARGE = {
  schema: { properties: { numbers: { contains: { anyOf: copies(100, { type: 'string' }) } } } },
  members: { numbers: copies(150_000, 1) },
}

/** A schema that takes too long to compile. It has more than the 64 KiB that the API takes. */
export const SLOW_TO_COMPILE = {
  allOf: Array.from({ length: 400 }, () => ({ required: Array.from({ length: 190 }, (_, name) => `member ${name}`) })),
}
