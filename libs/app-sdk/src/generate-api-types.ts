import { readFileSync, writeFileSync } from 'node:fs'
import openapiTS, { astToString, NEVER, STRING, tsIntersection, tsLiteral, tsRecord, tsUnion } from 'openapi-typescript'

/* `npm ci` and `npm run generate:api` run it: writes api-types.ts, the types of the API, from docs/openapi.json. */

const document = JSON.parse(
  readFileSync(new URL('../../../docs/openapi.json', import.meta.url), 'utf8'),
  // An index signature would make each misspelt member of an answer `unknown`, and no error.
  (name, value) => (name === 'additionalProperties' && value === true ? undefined : value),
)

/** Editors name the known values, and code has to do something with others (OP-244). */
const openSet = (values: readonly string[]) =>
  tsUnion([...values.map(tsLiteral), tsIntersection([STRING, tsRecord(NEVER, NEVER)])])

const types = await openapiTS(document, {
  transform(schema) {
    const { 'x-known-values': values } = schema as { 'x-known-values'?: readonly string[] }
    return values && openSet(values)
  },
})
writeFileSync(
  new URL('api-types.ts', import.meta.url),
  `/* Made from docs/openapi.json. Do not edit. */\n\n${astToString(types)}`,
)
