// What viz/export.py puts before standalone.js: the default export of the component that the file shows.
declare function component(host: import("../components/shared/types").Host): void
