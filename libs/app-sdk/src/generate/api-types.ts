import openapiTS, { astToString } from 'openapi-typescript'

const HEADER = `/* The types of the API, made from its OpenAPI document by \`npm run generate:api\`. Do not edit. */

`

/** The text of api-types.ts for an OpenAPI document. */
export const apiTypesOf = async (document: object): Promise<string> =>
  HEADER + astToString(await openapiTS(structuredClone(document) as Parameters<typeof openapiTS>[0]))
