import { createRequire } from 'node:module'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { npmPackages } from './generated-clients.ts'

/** A request as a tool has it after it imported the OpenAPI document. */
export interface ImportedRequest {
  readonly name: string
  readonly method: string
  /** With the address of the API; `:id` stands for a parameter of the path. */
  readonly url: string
  readonly body: string | undefined
}
export type Importer = (document: string) => Promise<ImportedRequest[]>

interface PostmanItem {
  readonly name: string
  readonly item?: readonly PostmanItem[]
  readonly request: {
    readonly method: string
    readonly url: { readonly path: readonly string[]; readonly query: readonly { readonly disabled: boolean }[] }
    readonly body?: { readonly raw?: string }
  }
}
interface PostmanResult {
  readonly reason?: string
  readonly output?: readonly [
    { readonly data: PostmanItem & { readonly variable: readonly { readonly key: string; readonly value: string }[] } },
  ]
}

/** As Postman imports it, with "Enable optional parameters" off: on, it sends values of its own for all of them. */
const postman: Importer = async (document) => {
  const packages = await npmPackages()
  const { convertV2 } = createRequire(join(packages, 'x.js'))('openapi-to-postmanv2')
  const options = { parametersResolution: 'Example', folderStrategy: 'Tags', enableOptionalParameters: false }
  const { reason, output }: PostmanResult = await promisify(convertV2)({ type: 'string', data: document }, options)
  if (!output) throw new Error(reason)
  const [{ data: collection }] = output
  const base = collection.variable.find(({ key }) => key === 'baseUrl')?.value
  const requestsOf = ({ name, item, request }: PostmanItem): ImportedRequest[] => {
    if (item) return item.flatMap(requestsOf)
    const { method, url, body } = request
    return [{ name, method, url: [base, ...url.path].join('/'), body: body?.raw }]
  }
  return requestsOf(collection)
}

interface BrunoItem {
  readonly name: string
  readonly items?: readonly BrunoItem[]
  readonly request: {
    readonly method: string
    readonly url: string
    readonly body: { readonly json: string | null }
  }
}
interface BrunoCollection extends BrunoItem {
  readonly environments: readonly [{ readonly variables: readonly { readonly name: string; readonly value: string }[] }]
}

const bruno: Importer = async (document) => {
  const packages = await npmPackages()
  const { openApiToBruno } = createRequire(join(packages, 'x.js'))('@usebruno/converters')
  const collection: BrunoCollection = await openApiToBruno(JSON.parse(document))
  const base = collection.environments[0].variables.find(({ name }) => name === 'baseUrl')?.value ?? ''
  const requestsOf = ({ name, items, request }: BrunoItem): ImportedRequest[] => {
    if (items) return items.flatMap(requestsOf)
    const { method, url, body } = request
    return [{ name, method, url: url.replace('{{baseUrl}}', base), body: body.json ?? undefined }]
  }
  return requestsOf(collection)
}

export const IMPORTERS = { Postman: postman, Bruno: bruno } satisfies Record<string, Importer>
