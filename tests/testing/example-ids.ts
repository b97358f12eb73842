import { randomUUID } from 'node:crypto'
import type { apiWith } from './api.ts'

type Api = ReturnType<typeof apiWith>
type Json = Record<string, unknown>

/** A path of the OpenAPI document with values for its parameters. */
export interface ExamplePath {
  readonly path: string
  /** Whether one of the values is missing from the other workspace's lists. */
  readonly isItsOwn: boolean
}

/**
 * Returns a function that finds values for a path's parameters in a workspace's lists, and takes a new id where there
 * is no such list or nothing in it. Each list is read once.
 */
export function examplePaths(api: Api, other: Api) {
  const known = new Map<Api, Map<string, Promise<Json>>>([
    [api, new Map()],
    [other, new Map()],
  ])
  const readOnce = async (by: Api, path: string) => {
    const { status, body } = await by<Json>('GET', path)
    return status === 200 ? body : {}
  }
  function read(by: Api, path: string): Promise<Json> {
    const body = known.get(by)?.get(path) ?? readOnce(by, path)
    known.get(by)?.set(path, body)
    return body
  }

  /** The first item of a list: its own page, or a member of its parent's body, as the variants of a product. */
  async function itemsAt(by: Api, path: string): Promise<Json[]> {
    const list = Object.values(await read(by, path)).find((member) => Array.isArray(member))
    if (list !== undefined) return list as Json[]
    const end = path.lastIndexOf('/')
    return ((await read(by, path.slice(0, end)))[path.slice(end + 1)] ?? []) as Json[]
  }

  return async (template: string): Promise<ExamplePath> => {
    let path = template
    let isItsOwn = false
    for (const [, name = ''] of template.matchAll(/\{(\w+)\}/g)) {
      const place = path.slice(0, path.indexOf('/{'))
      const idOf = (item: Json | undefined) => item?.[name] ?? item?.id
      const value = idOf((await itemsAt(api, place))[0])
      const others = (await itemsAt(other, place)).map(idOf)
      isItsOwn ||= value === undefined || !others.includes(value)
      path = path.replace(`{${name}}`, String(value ?? randomUUID()))
    }
    return { path, isItsOwn }
  }
}
