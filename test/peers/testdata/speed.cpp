// Times Pinocchio's and Coal's own code, with no Python in between: forward kinematics, Jacobians, distances of pairs.
// Reads lines. "robot NAME JOINTS": a chain; then one line per joint, "turns|slides", its axis, and its frame in the one before
// (quaternion x y z w, position), and a last line "tip" with the tip's. "pair KIND KIND": 20 numbers as peer.py has them.
#include <pinocchio/algorithm/frames.hpp>
#include <pinocchio/algorithm/jacobian.hpp>
#include <pinocchio/algorithm/joint-configuration.hpp>
#include <pinocchio/multibody.hpp>

#include <coal/distance.h>
#include <coal/shape/geometric_shapes.h>

#include <time.h>

#include <cstdio>
#include <iostream>
#include <map>
#include <memory>
#include <sstream>
#include <string>
#include <vector>

namespace {

double cpu() {
  timespec t;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return t.tv_sec + 1e-9 * t.tv_nsec;
}

double sink = 0;  // what is computed is used

template <class F>
double each(int n, F f) {
  for (int i = 0; i < n / 10; i++) f(i);
  const double begin = cpu();
  for (int i = 0; i < n; i++) f(i);
  return 1e9 * (cpu() - begin) / n;
}

pinocchio::SE3 read_place(std::istream& in) {
  double p[7];
  for (double& x : p) in >> x;
  return pinocchio::SE3(Eigen::Quaterniond(p[3], p[0], p[1], p[2]), Eigen::Vector3d(p[4], p[5], p[6]));
}

pinocchio::JointModel joint(const std::string& kind, const Eigen::Vector3d& axis) {
  const bool turns = kind == "turns";
  if (axis[0] == 1) return turns ? pinocchio::JointModel(pinocchio::JointModelRX()) : pinocchio::JointModel(pinocchio::JointModelPX());
  if (axis[1] == 1) return turns ? pinocchio::JointModel(pinocchio::JointModelRY()) : pinocchio::JointModel(pinocchio::JointModelPY());
  if (axis[2] == 1) return turns ? pinocchio::JointModel(pinocchio::JointModelRZ()) : pinocchio::JointModel(pinocchio::JointModelPZ());
  if (turns) return pinocchio::JointModelRevoluteUnaligned(axis);
  return pinocchio::JointModelPrismaticUnaligned(axis);
}

void kinematics(const std::string& name, int joints) {
  pinocchio::Model model;
  pinocchio::JointIndex last = 0;
  std::string kind, line;
  for (int i = 0; i < joints; i++) {
    std::getline(std::cin, line);
    std::istringstream in(line);
    Eigen::Vector3d axis;
    in >> kind >> axis[0] >> axis[1] >> axis[2];
    last = model.addJoint(last, joint(kind, axis), read_place(in), "j" + std::to_string(i));
  }
  std::getline(std::cin, line);
  std::istringstream in(line);
  in >> kind;
  const auto tip = model.addFrame(pinocchio::Frame("tip", last, 0, read_place(in), pinocchio::OP_FRAME));
  pinocchio::Data data(model);
  std::vector<Eigen::VectorXd> q;
  for (int i = 0; i < 64; i++) q.push_back(Eigen::VectorXd::Random(model.nq) * 2);
  std::printf("fk %s %.2f\n", name.c_str(), each(200000, [&](int i) {
                pinocchio::forwardKinematics(model, data, q[i & 63]);
                sink += pinocchio::updateFramePlacement(model, data, tip).translation()[0];
              }));
  Eigen::MatrixXd jac(6, model.nv);
  std::printf("jacobian %s %.2f\n", name.c_str(), each(200000, [&](int i) {
                jac.setZero();
                pinocchio::computeFrameJacobian(model, data, q[i & 63], tip, pinocchio::LOCAL_WORLD_ALIGNED, jac);
                sink += jac(0, 0);
              }));
}

std::shared_ptr<coal::ShapeBase> shape(const std::string& kind, const double* p) {
  if (kind == "sphere") return std::make_shared<coal::Sphere>(p[0]);
  if (kind == "capsule") return std::make_shared<coal::Capsule>(p[0], p[1]);
  if (kind == "cylinder") return std::make_shared<coal::Cylinder>(p[0], p[1]);
  return std::make_shared<coal::Box>(p[0], p[1], p[2]);
}

coal::Transform3s place(const double* p) {
  return coal::Transform3s(Eigen::Quaterniond(p[3], p[0], p[1], p[2]).toRotationMatrix(), coal::Vec3s(p[4], p[5], p[6]));
}

struct Pair {
  std::shared_ptr<coal::ShapeBase> a, b;
  coal::Transform3s at, bt;
};

}  // namespace

int main() {
  std::map<std::string, std::vector<Pair>> kinds;
  for (std::string line; std::getline(std::cin, line);) {
    std::istringstream in(line);
    std::string what, a, b;
    in >> what >> a >> b;
    if (what == "robot") {
      kinematics(a, std::stoi(b));
      continue;
    }
    double p[20];
    for (double& x : p) in >> x;
    kinds[a + "-" + b].push_back({shape(a, p), shape(b, p + 10), place(p + 3), place(p + 13)});
  }
  for (auto& k : kinds) {
    auto& list = k.second;
    coal::DistanceRequest request;
    request.enable_signed_distance = false;
    std::printf("pair %s %.2f\n", k.first.c_str(), each(100000, [&](int i) {
                  Pair& x = list[i % list.size()];
                  coal::DistanceResult result;
                  sink += coal::distance(x.a.get(), x.at, x.b.get(), x.bt, request, result);
                }));
  }
  std::fprintf(stderr, "%g\n", sink);
  return 0;
}
