import { createRoute, lazyRouteComponent } from '@tanstack/react-router'
import { rootRoute } from '../root-route.ts'

const getParentRoute = () => rootRoute

export const deliveryRoutes = [
  createRoute({
    getParentRoute,
    path: '/deliveries',
    component: lazyRouteComponent(() => import('./deliveries-page.tsx'), 'DeliveriesPage'),
  }),
  createRoute({
    getParentRoute,
    path: '/endpoints/$endpoint/deliveries/$delivery',
    component: lazyRouteComponent(() => import('./delivery-page.tsx'), 'DeliveryPage'),
  }),
] as const
