import { readFileSync, writeFileSync } from 'node:fs'
import openapiTS, { astToString, NEVER, STRING, tsIntersection, tsLiteral, tsRecord, tsUnion } from 'openapi-typescript'
import ts from 'typescript'

/*
 * `npm ci` and `npm run generate:api` run it: writes the types of the API for apps, from docs/openapi.json, and of the
 * admin API for the console. With the path of a document it writes the types of that one.
 */

const TYPES = {
  'docs/openapi.json': 'libs/app-sdk/src/api-types.ts',
  'docs/openapi-admin.json': 'console/src/api/admin-types.ts',
} as const

const inRepository = (path: string) => new URL(`../../../${path}`, import.meta.url)

/** Editors name the known values, and code has to do something with others (OP-244). */
const openSet = (values: readonly string[]) =>
  tsUnion([...values.map(tsLiteral), tsIntersection([STRING, tsRecord(NEVER, NEVER)])])

const BLOB = ts.factory.createTypeReferenceNode('Blob')

const [, , only] = process.argv
for (const [source, target] of Object.entries(TYPES)) {
  if (only !== undefined && only !== source) continue
  const document = JSON.parse(
    readFileSync(inRepository(source), 'utf8'),
    // An index signature would make each misspelt member of an answer `unknown`, and no error.
    (name, value) => (name === 'additionalProperties' && value === true ? undefined : value),
  )
  const types = await openapiTS(document, {
    // A request may leave out what has a default.
    defaultNonNullable: false,
    transform(schema) {
      const { 'x-known-values': values, format } = schema as { 'x-known-values'?: readonly string[]; format?: string }
      return format === 'binary' ? BLOB : values && openSet(values)
    },
  })
  writeFileSync(inRepository(target), `/* Made from ${source}. Do not edit. */\n\n${astToString(types)}`)
}
