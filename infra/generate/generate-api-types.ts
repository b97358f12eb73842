import { writeFileSync } from 'node:fs'
import { apiTypesOf } from '@backoffice/app-sdk/generate/api-types.ts'
import { wholeDocument } from './openapi-document.ts'

/* `npm run generate:api`: writes the types of the API, for libs/app-sdk. Needs no running stack. */

writeFileSync(new URL('../../libs/app-sdk/src/api-types.ts', import.meta.url), await apiTypesOf(wholeDocument()))
