import { ApiError, notFound } from '@backoffice/contracts/errors.ts'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import findMyWay from 'find-my-way'

declare module 'fastify' {
  interface FastifyInstance {
    /** The paths on which other methods are refused. */
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

/** Answers every other method on a path with 405 and `Allow` (OP-02), unless a route takes it. */
export function refuseOtherMethods(app: FastifyInstance, url: string, allowed: readonly string[]): void {
  const path: PathWithMethods = { url, allowed }
  app.pathsWithMethods.on('GET', url, () => undefined, path)
}

/**
 * Refuses requests for which there is no route: 405 on a path that has other methods, 404 on others. A router of its
 * own finds the path. With a route for each other method, of 35, an app would take four times as long to build.
 */
export function refuseUnrouted(app: FastifyInstance): void {
  app.decorate('pathsWithMethods', findMyWay({ maxParamLength: MAX_PARAM_LENGTH }))
  // Before the body is read, since it does not matter.
  app.addHook('preParsing', async (request) => {
    if (!request.is404) return
    refuseOtherMethod(request)
    throw notFound([], `${request.method} ${request.url.split('?', 1)[0]}: no such operation`, 'no_such_operation')
  })
}

/** Throws `method_not_allowed` if the request's path takes other methods only: for routes that take any path. */
export function refuseOtherMethod(request: FastifyRequest): void {
  const { method, url, server } = request
  const found: PathWithMethods | undefined = server.pathsWithMethods.find('GET', url)?.store
  if (found === undefined || found.allowed.includes(method)) return
  request.logged = { ...request.logged, path: found.url, route: found.url }
  const allow = found.allowed.join(', ')
  throw new ApiError('method_not_allowed', `${method} is not allowed here; allowed: ${allow}`, { headers: { allow } })
}
