import { readFileSync, writeFileSync } from 'node:fs'
import openapiTS, { astToString } from 'openapi-typescript'

/* `npm ci` and `npm run generate:api` run it: writes api-types.ts, the types of the API, from docs/openapi.json. */

const document = JSON.parse(readFileSync(new URL('../../../docs/openapi.json', import.meta.url), 'utf8'))
const types = astToString(await openapiTS(document))
writeFileSync(new URL('api-types.ts', import.meta.url), `/* Made from docs/openapi.json. Do not edit. */\n\n${types}`)
