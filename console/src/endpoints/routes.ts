import { createRoute, lazyRouteComponent } from '@tanstack/react-router'
import { rootRoute } from '../root-route.ts'

const getParentRoute = () => rootRoute

export const endpointRoutes = [
  createRoute({
    getParentRoute,
    path: '/endpoints',
    component: lazyRouteComponent(() => import('./endpoints-page.tsx'), 'EndpointsPage'),
  }),
  createRoute({
    getParentRoute,
    path: '/endpoints/new',
    component: lazyRouteComponent(() => import('./new-endpoint-page.tsx'), 'NewEndpointPage'),
  }),
  createRoute({
    getParentRoute,
    path: '/endpoints/$endpoint',
    component: lazyRouteComponent(() => import('./endpoint-page.tsx'), 'EndpointPage'),
  }),
  createRoute({
    getParentRoute,
    path: '/endpoints/$endpoint/edit',
    component: lazyRouteComponent(() => import('./edit-endpoint-page.tsx'), 'EditEndpointPage'),
  }),
] as const
