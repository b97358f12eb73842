import { createRoute, redirect } from '@tanstack/react-router'
import { rootRoute } from '../root-route.ts'

/** Until there is an overview, the console opens with the deliveries. */
export const homeRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: '/',
  beforeLoad: () => {
    throw redirect({ to: '/deliveries' })
  },
})
