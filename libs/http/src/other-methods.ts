import { ApiError, notFound } from '@backoffice/contracts/errors.ts'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import findMyWay from 'find-my-way'

declare module 'fastify' {
  interface FastifyInstance {
    /** The noted paths. */
    pathsWithMethods: PathsWithMethods
  }
}

type PathsWithMethods = ReturnType<typeof findMyWay>

/** A path with names for its ids, and the methods that it takes. */
interface PathWithMethods {
  readonly url: string
  readonly allowed: readonly string[]
}

/** How long a parameter of a path may be, in characters. */
export const MAX_PARAM_LENGTH = 2048

/**
 * Answers every other method on a path with 405 and `Allow` (OP-02), as the routes of `app` answer: with its headers
 * and its error handler. GET allows HEAD. For many paths, `notePath` is far quicker.
 */
export function refuseOtherMethods(app: FastifyInstance, url: string, allowed: readonly string[]): void {
  app.route({
    method: app.supportedMethods.filter((method) => !withHead(allowed).includes(method)),
    url,
    // Before the body is read, since it does not matter.
    onRequest: async (request) => refuse(request, allowed),
    handler: async () => undefined,
  })
}

/**
 * Notes the methods of a path: `refuseUnrouted` and `refuseOtherMethod` refuse others. With a route for each other
 * method, of 35, an app with many paths would take six times as long to build.
 */
export function notePath(app: FastifyInstance, url: string, allowed: readonly string[]): void {
  const path: PathWithMethods = { url, allowed }
  app.pathsWithMethods.on('GET', url, () => undefined, path)
}

/** Refuses requests for which there is no route: 405 on a noted path, 404 on others. */
export function refuseUnrouted(app: FastifyInstance): void {
  app.decorate('pathsWithMethods', findMyWay({ maxParamLength: MAX_PARAM_LENGTH }))
  app.addHook('onRequest', async (request) => {
    if (!request.is404 || pathOf(request) !== undefined) return
    throw notFound([], `${request.method} ${request.url.split('?', 1)[0]}: no such operation`, 'no_such_operation')
  })
  // After the hooks that give answers their headers, and before the body is read.
  app.addHook('preParsing', async (request) => {
    if (request.is404) refuseOtherMethod(request)
  })
}

/**
 * Throws `method_not_allowed` if the request's path is noted with other methods. For routes whose parameters take what
 * is a path of its own: there is no `GET /v1/products/batch`, and no product of that id.
 */
export function refuseOtherMethod(request: FastifyRequest): void {
  const path = pathOf(request)
  if (path === undefined || withHead(path.allowed).includes(request.method)) return
  request.logged = { ...request.logged, path: path.url, route: path.url }
  refuse(request, path.allowed)
}

const pathOf = ({ server, url }: FastifyRequest): PathWithMethods | undefined =>
  server.pathsWithMethods.find('GET', url)?.store

/** Where there is a GET, its route answers HEAD (RFC 9110, 9.3.2). */
const withHead = (allowed: readonly string[]) =>
  allowed.flatMap((method) => (method === 'GET' ? ['GET', 'HEAD'] : method))

function refuse({ method }: FastifyRequest, allowed: readonly string[]): never {
  const allow = withHead(allowed).join(', ')
  throw new ApiError('method_not_allowed', `${method} is not allowed here; allowed: ${allow}`, { headers: { allow } })
}
